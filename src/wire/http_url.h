// Where an HTTP request goes, and with which secrets it is signed, as people write them down. Total
// and strict: what is accepted is put into a request as it is, and can break out of no line of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::wire {

inline constexpr std::size_t kHttpUrlBytesMax = 2'000;  // the API contract

struct HttpUrl {
  bool tls = false;
  std::string host;  // a name in lower case or an address; IPv6 without brackets
  std::uint16_t port = 0;
  std::string target;  // path and query as written; at least `/`

  std::string authority() const;  // as the Host header wants it: a usual port is left out
  friend bool operator==(const HttpUrl&, const HttpUrl&) = default;
};

// `http://host[:port][/path][?query]` or `https://…`. No user or password, which would end up in
// logs; no fragment, which no server ever sees. The error's `what` is a predicate ("must …").
Result<HttpUrl> parse_http_url(std::string_view text);

// The key that a webhook secret stands for: `whsec_` and base64 of at least 16 bytes, as Standard
// Webhooks writes it, or any other text as it is. The error's `what` is a predicate.
Result<std::string> parse_webhook_secret(std::string_view text);

}  // namespace penstock::wire
