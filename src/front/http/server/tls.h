// The server's side of TLS: certificate and key, read once at start. Immutable after load, shared
// by all threads. OpenSSL stays behind this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
struct ssl_ctx_st;
struct ssl_st;

namespace penstock::front {

struct FreeSsl {
  void operator()(ssl_ctx_st* context) const noexcept;
  void operator()(ssl_st* session) const noexcept;
};
using SslSession = std::unique_ptr<ssl_st, FreeSsl>;

class TlsContext {
 public:
  // PEM files: a certificate chain (the server's first) and its key. TLS 1.2 and up.
  static Result<TlsContext> load(const std::string& certificate_file, const std::string& key_file);

  // A session on a connected socket, which must outlive it. Null when memory is short.
  SslSession accept_on(int fd) const noexcept;

 private:
  using Context = std::unique_ptr<ssl_ctx_st, FreeSsl>;
  explicit TlsContext(Context context) noexcept : context_(std::move(context)) {}

  Context context_;
};

// The bytes of one connection, plain or through TLS, without waiting: each call does what it can
// and says what to wait for. Owned by a session; one thread. Does not own the socket.
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
