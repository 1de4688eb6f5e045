// The commands of `penstock` that run a daemon or open its stores, and what they know of the build
// and of who started them.
#pragma once

#include <span>
#include <string_view>

#include "cli/command_line.h"
#include "sink/extension.h"

namespace penstock::daemon {

void add_serve(cli::Command root, std::span<const sink::MakeExtension> extensions);
void add_check_config(cli::Command root);
void add_doctor(cli::Command root);
void add_migrate(cli::Command root);
void add_verify(cli::Command root);
void add_version(cli::Command root);
void add_export(cli::Command root);
void add_slots_prune(cli::Command slots);

// What was compiled into this program from outside (PENSTOCK_EXTENSIONS);
// cmake/PenstockDaemon.cmake writes the source.
std::span<const sink::MakeExtension> extensions();

// Which commit this program was built from: its first seven digits, and "-dirty" when files were
// changed; empty when it was not built from a repository. cmake/BuildCommit.cmake writes the
// source.
std::string_view build_commit() noexcept;

// Tells the service manager that started this process how it stands, as systemd's units of
// Type=notify want it: one datagram to the socket that NOTIFY_SOCKET names. Any thread.
// `socket` is the value of NOTIFY_SOCKET: a path, or a name after `@`; null is no service manager.
// `state` is lines such as `READY=1`. Gives whether it was sent: a service manager that cannot be
// told is no reason to stop, it gives up by itself.
bool tell_service_manager(const char* socket, std::string_view state) noexcept;

}  // namespace penstock::daemon
