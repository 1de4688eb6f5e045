#include "daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cstddef>

#include <algorithm>

namespace penstock::daemon {

bool tell_service_manager(const char* socket, std::string_view state) noexcept {
  if (socket == nullptr) return false;
  const std::string_view name(socket);
  sockaddr_un address{};
  if (name.size() < 2 || name.size() >= sizeof(address.sun_path)) return false;
  if (name[0] != '/' && name[0] != '@') return false;
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path);
  if (name[0] == '@') address.sun_path[0] = '\0';  // a name that is no file
  const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const ssize_t sent = ::sendto(file, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  ::close(file);
  return sent == static_cast<ssize_t>(state.size());
}

}  // namespace penstock::daemon
