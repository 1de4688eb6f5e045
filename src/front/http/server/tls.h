// The server's side of TLS: certificate and key, read once at start. Immutable after load, shared
// by all threads. OpenSSL stays behind this header.
#pragma once

#include <memory>
#include <string>

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

}  // namespace penstock::front
