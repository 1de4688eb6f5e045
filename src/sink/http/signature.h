// Standard Webhooks: signs what is sent, so that the receiver knows who sent it and when. One
// thread at a time: each key keeps its state between messages.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_mac_ctx_st;

namespace penstock::sink {

class WebhookSigner {
 public:
  // Secrets as wire::parse_webhook_secret reads them; a bad one is `invalid` with field
  // "sink.secrets". None = nothing is signed.
  static Result<WebhookSigner> make(const std::vector<std::string>& secrets);

  bool signs() const noexcept { return !keys_.empty(); }

  // Appends `v1,<base64>` for every secret, in their order, a space between: HMAC-SHA256 over
  // `id.timestamp.body`. The body comes in parts.
  void append_signatures(std::string& out, std::string_view id, std::string_view timestamp,
                         std::initializer_list<std::string_view> body);

 private:
  struct Free {
    void operator()(evp_mac_ctx_st* context) const noexcept;
  };
  using Key = std::unique_ptr<evp_mac_ctx_st, Free>;

  WebhookSigner() = default;

  std::vector<Key> keys_;
};

}  // namespace penstock::sink
