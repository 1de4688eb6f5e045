#include "tool/bench/target.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace penstock::tool::bench {

bool Target::is_loopback() const noexcept {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  if (address.ss_family != AF_INET6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return v6.sin6_addr.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

Result<Target> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (error != 0 || found == nullptr) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot find the host {}: {}", host, ::gai_strerror(error)));
  }
  // IPv4 first, where a name has both: the daemon's own default is 127.0.0.1.
  const addrinfo* chosen = found;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      chosen = each;
      break;
    }
  }
  Target target{.host = host, .port = port};
  std::memcpy(&target.address, chosen->ai_addr, chosen->ai_addrlen);
  target.address_bytes = chosen->ai_addrlen;
  return target;
}

Result<void> may_load(const Target& target, const std::string& consent) {
  if (target.is_loopback() || consent == target.host) return {};
  return fail(ErrorKind::invalid,
              fmt::format("{} is not this machine; to put load on it, say --yes-load {}",
                          target.host, target.host));
}

int open_socket(const Target& target) noexcept {
  const int fd = ::socket(target.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto* generic = reinterpret_cast<const sockaddr*>(&target.address);
  if (::connect(fd, generic, target.address_bytes) != 0 && errno != EINPROGRESS) {
    const int error = errno;
    ::close(fd);
    return -error;
  }
  return fd;
}

Result<void> probe(const Target& target, Millis timeout) {
  const auto unreachable = [&](int error) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot reach {}:{}: {}", target.host, target.port,
                            std::generic_category().message(error)));
  };
  const int fd = open_socket(target);
  if (fd < 0) return unreachable(-fd);
  pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
  const int limit = static_cast<int>(std::min<std::int64_t>(timeout.count(), 60'000));
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, limit);
  } while (ready < 0 && errno == EINTR);
  int error = ready == 0 ? ETIMEDOUT : 0;
  socklen_t size = sizeof error;
  if (ready > 0) ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  ::close(fd);
  if (error != 0) return unreachable(error);
  return {};
}

}  // namespace penstock::tool::bench
