#include "sink/http/signature.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "wire/base64.h"
#include "wire/http_url.h"

namespace penstock::sink {
namespace {

constexpr std::size_t kDigestBytes = 32;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

void WebhookSigner::Free::operator()(evp_mac_ctx_st* context) const noexcept {
  EVP_MAC_CTX_free(context);
}

Result<WebhookSigner> WebhookSigner::make(const std::vector<std::string>& secrets) {
  WebhookSigner signer;
  EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  if (hmac == nullptr) return fail(ErrorKind::unavailable, "OpenSSL has no HMAC");
  const std::unique_ptr<EVP_MAC, decltype([](EVP_MAC* mac) { EVP_MAC_free(mac); })> free(hmac);
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  for (const std::string& secret : secrets) {
    const Result<std::string> key = wire::parse_webhook_secret(secret);
    if (!key) return invalid_field("sink.secrets", key.error().what);
    Key context(EVP_MAC_CTX_new(hmac));
    if (!context || EVP_MAC_init(context.get(), bytes_of(*key), key->size(), params) != 1) {
      return fail(ErrorKind::unavailable, "OpenSSL cannot sign with SHA-256");
    }
    signer.keys_.push_back(std::move(context));
  }
  return signer;
}

void WebhookSigner::append_signatures(std::string& out, std::string_view id,
                                      std::string_view timestamp,
                                      std::initializer_list<std::string_view> body) {
  for (const Key& key : keys_) {
    const auto add = [&](std::string_view text) {
      PENSTOCK_CHECK(EVP_MAC_update(key.get(), bytes_of(text), text.size()) == 1);
    };
    // Without a key it starts again with the one it has, which spares hashing the key anew.
    PENSTOCK_CHECK(EVP_MAC_init(key.get(), nullptr, 0, nullptr) == 1);
    add(id);
    add(".");
    add(timestamp);
    add(".");
    for (const std::string_view part : body) add(part);
    std::array<unsigned char, kDigestBytes> digest{};
    std::size_t size = 0;
    PENSTOCK_CHECK(EVP_MAC_final(key.get(), digest.data(), &size, digest.size()) == 1);
    if (&key != &keys_.front()) out += ' ';
    out += "v1,";
    wire::append_base64(out, {reinterpret_cast<const char*>(digest.data()), size});
  }
}

}  // namespace penstock::sink
