// The bytes of one connection, plain or through TLS, without waiting: each call does what it can
// and says what to wait for. Owned by a session; one thread. Does not own the socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "front/http/server/tls.h"

namespace penstock::front {

class Transport {
 public:
  enum class Status : std::uint8_t { done, want_read, want_write, closed };
  struct Outcome {
    Status status;
    std::size_t bytes = 0;  // when done; never 0 for read and write
  };

  explicit Transport(int fd) noexcept : fd_(fd) {}

  // Speaks TLS from now on; handshake() until it is done.
  void secure(SslSession session) noexcept { ssl_ = std::move(session); }

  Outcome handshake() noexcept;
  Outcome read(std::span<char> into) noexcept;
  Outcome write(std::string_view bytes) noexcept;
  // Whether read() has bytes that the socket will not announce.
  bool has_pending() const noexcept;
  // Tells the peer that nothing more comes; it may still send.
  void finish_writing() noexcept;

 private:
  Outcome tls_outcome(int result) noexcept;

  int fd_;
  bool failed_ = false;  // TLS broke: no farewell can be sent
  SslSession ssl_;       // null = plain
};

}  // namespace penstock::front
