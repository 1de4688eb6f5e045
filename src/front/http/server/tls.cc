#include "front/http/server/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <system_error>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

namespace penstock::front {

namespace {

// The first reason OpenSSL gives; the rest of its queue is dropped.
std::string openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason ? reason : "unknown reason";
}

// OpenSSL's own words for a missing file are hard to read, so it is tried before.
Result<void> check_readable(const char* what, const std::string& file) {
  if (std::FILE* const opened = std::fopen(file.c_str(), "r")) {
    std::fclose(opened);
    return {};
  }
  return fail(ErrorKind::invalid, fmt::format("cannot read the TLS {} file {}: {}", what, file,
                                              std::generic_category().message(errno)));
}

}  // namespace

void FreeSsl::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }
void FreeSsl::operator()(ssl_st* session) const noexcept { SSL_free(session); }

Result<TlsContext> TlsContext::load(const std::string& certificate_file,
                                    const std::string& key_file) {
  if (auto readable = check_readable("certificate", certificate_file); !readable) {
    return std::unexpected(readable.error());
  }
  if (auto readable = check_readable("key", key_file); !readable) {
    return std::unexpected(readable.error());
  }
  Context context(SSL_CTX_new(TLS_server_method()));
  if (!context) return fail(ErrorKind::unavailable, "cannot set up TLS: " + openssl_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Writes may be cut and retried from another buffer; idle connections keep no record buffers.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  // A passphrase cannot be asked for: the key would hang the start on a terminal.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    return fail(ErrorKind::invalid, fmt::format("no usable TLS certificate in {}: {}",
                                                certificate_file, openssl_reason()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const std::string reason = openssl_reason();
    return fail(ErrorKind::invalid,
                fmt::format("no usable TLS key in {} for the certificate in {}: {}", key_file,
                            certificate_file, reason));
  }
  if (SSL_CTX_check_private_key(context.get()) != 1) {
    ERR_clear_error();
    return fail(ErrorKind::invalid,
                fmt::format("the TLS key in {} does not belong to the certificate in {}", key_file,
                            certificate_file));
  }
  return TlsContext(std::move(context));
}

SslSession TlsContext::accept_on(int fd) const noexcept {
  SslSession session(SSL_new(context_.get()));
  if (!session || SSL_set_fd(session.get(), fd) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  SSL_set_accept_state(session.get());
  return session;
}

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
