#include "sink/smpp/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "sink/address_guard.h"

namespace penstock::sink {
namespace {

std::unexpected<Error> problem(int code) {
  return fail(ErrorKind::unavailable, std::error_code(code, std::generic_category()).message());
}

wire::IpAddress ip_of(const sockaddr& address) {
  wire::IpAddress ip;
  if (address.sa_family == AF_INET6) {
    std::memcpy(ip.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  } else {
    ip.bytes[10] = ip.bytes[11] = 0xff;
    std::memcpy(ip.bytes.data() + 12, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  }
  return ip;
}

}  // namespace

Result<std::vector<SocketAddress>> resolve_host(const std::string& host, std::uint16_t port,
                                                bool only_public) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorKind::unavailable,
                "cannot resolve " + host + ": " + std::string(::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  bool refused = false;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    if (only_public && !is_public_address(ip_of(*each->ai_addr))) {
      refused = true;
      continue;
    }
    if (addresses.size() == kAddressesMax) break;
    SocketAddress& address = addresses.emplace_back();
    address.size = static_cast<socklen_t>(each->ai_addrlen);
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
  }
  if (!addresses.empty()) return addresses;
  return fail(ErrorKind::unavailable,
              host + (refused ? " has private addresses only" : " has no address"));
}

Result<void> Socket::connect(const SocketAddress& address) {
  close();
  fd_ = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return problem(errno);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0 ||
      errno == EINPROGRESS) {
    return {};
  }
  return problem(errno);
}

Result<void> Socket::finish_connect() {
  int code = 0;
  socklen_t size = sizeof(code);
  if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
  if (code != 0) return problem(code);
  return {};
}

Result<std::size_t> Socket::write(std::string_view bytes) {
  const ssize_t done = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (done >= 0) return static_cast<std::size_t>(done);
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return problem(errno);
}

Result<std::string_view> Socket::read() {
  const ssize_t done = ::recv(fd_, buffer_, sizeof(buffer_), 0);
  if (done > 0) return std::string_view(buffer_, static_cast<std::size_t>(done));
  if (done == 0) return fail(ErrorKind::unavailable, "the provider closed the connection");
  if (errno == EAGAIN || errno == EINTR) return std::string_view();
  return problem(errno);
}

void Socket::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace penstock::sink
