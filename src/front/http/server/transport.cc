#include "front/http/server/transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace penstock::front {
namespace {

using Outcome = Transport::Outcome;

Outcome socket_outcome(ssize_t result, Transport::Status when_full) noexcept {
  if (result > 0) return {Transport::Status::done, static_cast<std::size_t>(result)};
  if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return {when_full};
  }
  return {Transport::Status::closed};
}

int clamp(std::size_t size) noexcept {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

Outcome Transport::tls_outcome(int result) noexcept {
  if (result > 0) return {Transport::Status::done, static_cast<std::size_t>(result)};
  const int error = SSL_get_error(ssl_.get(), result);
  // The queue is per thread: what one connection leaves there would be read as another's.
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return {Transport::Status::want_read};
  if (error == SSL_ERROR_WANT_WRITE) return {Transport::Status::want_write};
  failed_ = error != SSL_ERROR_ZERO_RETURN;
  return {Transport::Status::closed};
}

Outcome Transport::handshake() noexcept {
  return ssl_ ? tls_outcome(SSL_do_handshake(ssl_.get())) : Outcome{Transport::Status::done};
}

Outcome Transport::read(std::span<char> into) noexcept {
  if (ssl_) return tls_outcome(SSL_read(ssl_.get(), into.data(), clamp(into.size())));
  return socket_outcome(::recv(fd_, into.data(), into.size(), 0), Transport::Status::want_read);
}

Outcome Transport::write(std::string_view bytes) noexcept {
  if (ssl_) return tls_outcome(SSL_write(ssl_.get(), bytes.data(), clamp(bytes.size())));
  return socket_outcome(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
                        Transport::Status::want_write);
}

bool Transport::has_pending() const noexcept { return ssl_ && SSL_has_pending(ssl_.get()) == 1; }

void Transport::finish_writing() noexcept {
  if (ssl_ && !failed_ && SSL_is_init_finished(ssl_.get())) {
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace penstock::front
