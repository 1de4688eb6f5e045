#include "engine/redis/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>

namespace penstock::store::redis {
namespace {

std::string last_problem() {
  std::array<char, 256> text{};
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) return "unknown TLS failure";
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const std::string& ca_file) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> context(new TlsContext(SSL_CTX_new(TLS_client_method())));
  if (context->get() == nullptr) return fail(ErrorKind::unavailable, "TLS: " + last_problem());
  SSL_CTX_set_min_proto_version(context->get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
  const bool loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context->get()) == 1
                                      : SSL_CTX_load_verify_locations(
                                            context->get(), ca_file.c_str(), nullptr) == 1;
  if (!loaded) {
    return fail(ErrorKind::invalid, "the CA file of redis cannot be read: " + last_problem());
  }
  return context;
}

TlsSession::TlsSession(const TlsContext& context, const std::string& host)
    : ssl_(SSL_new(context.get()), SSL_free),
      input_(BIO_new(BIO_s_mem())),
      output_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(ssl_.get(), input_, output_);
  SSL_set_connect_state(ssl_.get());
  std::array<unsigned char, 16> binary{};
  const bool numeric = ::inet_pton(AF_INET, host.c_str(), binary.data()) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), binary.data()) == 1;
  if (numeric) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host.c_str());
  } else {
    SSL_set1_host(ssl_.get(), host.c_str());
    SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
  }
}

TlsSession::Step TlsSession::handshake() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_.get());
  if (done == 1) return Step::done;
  return SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ ? Step::need_bytes : Step::failed;
}

bool TlsSession::encrypt(std::string_view plain) {
  ERR_clear_error();
  std::size_t written = 0;
  // Into memory, so it takes all or fails.
  return plain.empty() || (SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) == 1 &&
                           written == plain.size());
}

void TlsSession::put(std::string_view received) {
  BIO_write(input_, received.data(), static_cast<int>(received.size()));
}

TlsSession::Step TlsSession::decrypt(std::string& plain) {
  ERR_clear_error();
  std::array<char, 16 * 1024> chunk;
  bool some = false;
  for (;;) {
    std::size_t count = 0;
    if (SSL_read_ex(ssl_.get(), chunk.data(), chunk.size(), &count) == 1) {
      plain.append(chunk.data(), count);
      some = true;
      continue;
    }
    if (some) return Step::done;
    return SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_READ ? Step::need_bytes : Step::failed;
  }
}

std::string TlsSession::take_output() {
  std::string out(BIO_ctrl_pending(output_), '\0');
  if (!out.empty()) BIO_read(output_, out.data(), static_cast<int>(out.size()));
  return out;
}

std::string TlsSession::problem() const {
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified != X509_V_OK) return X509_verify_cert_error_string(verified);
  return last_problem();
}

}  // namespace penstock::store::redis
