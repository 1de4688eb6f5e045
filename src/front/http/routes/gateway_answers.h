// What the gateway answers, as JSON. The sentences in `message` are a contract that clients
// compare; what else there is to say stands beside it (`field`, `detail`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "front/http/http.h"
#include "service/gateway/gateway_service.h"
#include "wire/json.h"

namespace penstock::front {

inline constexpr std::string_view kMessageSent = "Message Sent Successfully";
inline constexpr std::string_view kUserNotFound = "User Not Found";
inline constexpr std::string_view kBusDown = "Kafka Down : Service Unavailable";
inline constexpr std::string_view kMessageNotFound = "Message Not Found";

// The sentences of one gateway: they name what it stands on.
struct GatewaySentences {
  std::string_view store_down = "Store Down : Service Unavailable";
  std::string_view not_found = kUserNotFound;

  std::string_view of(ErrorKind kind) const noexcept;
  // Those for this answer: when the bus has failed, it is the one that is down.
  GatewaySentences about(const Result<store::Sent>& answer) const noexcept;
};

// An answer that is no success, as an error whose kind gives the status; none when it is one.
std::optional<Error> refusal_of(const store::Sent& sent);

// The error body, with the contract's sentence, and with what the error says as `detail`.
Response gateway_error(const GatewaySentences& sentences, const Error& error,
                       std::string_view request_id, Instant now);

std::string encode_config(core::UserId user, const core::Quota& quota);
std::string encode_sent(const store::Sent& sent);
// One entry of a batch: {userId, status, message, messageId? | error, field?, detail?, retryAfter?}
void encode_send_entry(wire::JsonWriter& out, std::optional<std::int64_t> user,
                       const Result<store::Sent>& answer, const GatewaySentences& sentences);
std::string encode_message(const service::MessageView& view);
std::string encode_usage(core::UserId user, Millis bucket, const service::UsageBuckets& buckets);
// A line of JSON for each: {at, userId, sent, limited, failed}
std::string encode_usage_lines(const std::vector<store::UserMinute>& minutes);
// A line of JSON for each: {id, at, userId, outcome, messageId?, message?}
std::string encode_attempt_lines(const std::vector<store::Attempt>& attempts);
std::string encode_top_limited(const std::vector<store::LimitedUser>& users);

}  // namespace penstock::front
