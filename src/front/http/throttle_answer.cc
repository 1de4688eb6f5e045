#include "front/http/throttle_answer.h"

#include <string>
#include <utility>

#include "wire/http/errors.h"
#include "wire/json.h"
#include "wire/throttle.h"
#include "wire/throttle_headers.h"

namespace penstock::front {
namespace {

// An answer has about 100 bytes and 110 a limit, besides keys and policy names.
constexpr std::size_t kBodyBytes = 448;
constexpr std::size_t kHeaderBytes = 192;

}  // namespace

Response throttle_response(const core::ThrottleDecision& decision, int denied_status,
                           std::string_view request_id, Instant now) {
  Response response{.status = decision.allowed ? 200 : denied_status};
  wire::JsonWriter out(kBodyBytes);
  out.begin_object();
  if (!decision.allowed) {
    const std::string message = "Rate limit exceeded for key: " + std::string(decision.key());
    out.member("status", denied_status)
        .member("error", wire::reason_of(denied_status))
        .member("message", message)
        .member("timestamp", now)
        .member("requestId", request_id);
  }
  wire::encode_decision_members(out, decision);
  out.end_object();
  response.body = std::move(out).take();
  response.header_lines.reserve(kHeaderBytes);
  wire::append_throttle_headers(response.header_lines, decision);
  return response;
}

}  // namespace penstock::front
