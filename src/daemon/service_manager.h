// Tells the service manager that started this process how it stands, as systemd's units of
// Type=notify want it: one datagram to the socket that NOTIFY_SOCKET names. Any thread.
#pragma once

#include <string_view>

namespace penstock::daemon {

// `socket` is the value of NOTIFY_SOCKET: a path, or a name after `@`; null is no service manager.
// `state` is lines such as `READY=1`. Gives whether it was sent: a service manager that cannot be
// told is no reason to stop, it gives up by itself.
bool tell_service_manager(const char* socket, std::string_view state) noexcept;

}  // namespace penstock::daemon
