// A TCP connection as an SMPP sink uses it: never blocks, one thread. Closed by its end.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace penstock::sink {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// Blocks. At least one address; with `only_public`, private ones are left away and the error says
// so.
Result<std::vector<SocketAddress>> resolve_host(const std::string& host, std::uint16_t port,
                                                bool only_public);

class Socket {
 public:
  Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  // Begins to connect; it is done when the socket can be written to.
  Result<void> connect(const SocketAddress& address);
  Result<void> finish_connect();

  // What could be written at once. An error ends the connection.
  Result<std::size_t> write(std::string_view bytes);
  // Nothing to read yet = empty; the end of the other side is an error.
  Result<std::string_view> read();

  void close() noexcept;
  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }

 private:
  int fd_ = -1;
  char buffer_[16 * 1024];  // a hundred answers
};

}  // namespace penstock::sink
