// What the HTTP sink reads from people and from servers, wire/http_url, retry_after and base64: a
// URL that is accepted breaks out of no line and is the same when written and read again; pauses
// are in range; base64 has one spelling.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/base64.h"
#include "wire/http_url.h"
#include "wire/retry_after.h"

namespace {

using namespace penstock;
using namespace penstock::wire;

bool fits_a_header(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

void check_url(std::string_view text) {
  const Result<HttpUrl> url = parse_http_url(text);
  if (!url) return PENSTOCK_CHECK(url.error().what.starts_with("must "));
  PENSTOCK_CHECK(fits_a_header(url->target) && fits_a_header(url->authority()));
  PENSTOCK_CHECK(url->target.starts_with('/') && !url->host.empty() && url->port > 0);
  const std::string again = (url->tls ? "https://" : "http://") + url->authority() + url->target;
  if (again.size() <= kHttpUrlBytesMax) PENSTOCK_CHECK(parse_http_url(again) == *url);
}

void check_retry_after(std::string_view text) {
  constexpr Instant kNow{Seconds{1'750'000'000}};
  const std::optional<Millis> pause = parse_retry_after(text, kNow);
  if (pause) PENSTOCK_CHECK(*pause >= Millis{0} && *pause <= kRetryAfterMax);
}

void check_base64(std::string_view text) {
  std::string encoded;
  append_base64(encoded, text);
  PENSTOCK_CHECK(decode_base64(encoded) == text);
  if (const std::optional<std::string> bytes = decode_base64(text)) {
    encoded.clear();
    append_base64(encoded, *bytes);
    PENSTOCK_CHECK(encoded == text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_url(text);
  check_retry_after(text);
  check_base64(text);
  if (const Result<std::string> key = parse_webhook_secret(text); key && !key->empty()) {
    PENSTOCK_CHECK(key->size() <= text.size());
  }
  return 0;
}
