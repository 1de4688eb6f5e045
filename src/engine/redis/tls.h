// TLS over bytes that somebody else sends and receives. The peer's certificate is verified against
// the CA and the host's name. TlsContext is shared by all connections; a TlsSession belongs to one.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::store::redis {

class TlsContext {
 public:
  // `ca_file` empty = the system's.
  static Result<std::shared_ptr<const TlsContext>> make(const std::string& ca_file);
  SSL_CTX* get() const noexcept { return context_.get(); }

 private:
  explicit TlsContext(SSL_CTX* context) noexcept : context_(context, SSL_CTX_free) {}
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

class TlsSession {
 public:
  enum class Step { done, need_bytes, failed };

  TlsSession(const TlsContext& context, const std::string& host);

  Step handshake();                      // again after each put() until done
  bool encrypt(std::string_view plain);  // false: the session is of no more use
  void put(std::string_view received);   // bytes from the peer
  Step decrypt(std::string& plain);      // appends what is there; done = something, or need_bytes
  std::string take_output();             // bytes for the peer; ask after every other call
  std::string problem() const;           // for people

 private:
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  BIO* input_;   // of ssl_
  BIO* output_;  // of ssl_
};

}  // namespace penstock::store::redis
