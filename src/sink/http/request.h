// Turns a hand-over into the bytes of an HTTP request. One thread at a time; touches no socket.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "sink/http/signature.h"
#include "sink/sink.h"
#include "wire/http_url.h"

namespace penstock::sink {

class RequestWriter {
 public:
  // Behind the context in every body.
  static constexpr std::string_view kBodyEnd = "}";

  RequestWriter(const wire::HttpUrl& url, std::string_view user_agent, WebhookSigner signer);

  // Replaces `out` by the head and the body up to the context: the request is `out`, then the
  // context as it is (it may be large, so it is not copied), then kBodyEnd. False: the ids hold
  // what cannot stand in a header, which no id of the API does.
  [[nodiscard]] bool write(std::string& out, const Handover& item, std::string_view context,
                           Instant now);

 private:
  const std::string head_start_;  // the same for all
  WebhookSigner signer_;
  std::string key_;   // of the item at work
  std::string body_;  // likewise, without the context
};

}  // namespace penstock::sink
