// The JSON of the gateway: configs of users, messages to send, and the context in which a message
// waits. Total functions; errors name the field.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "core/gateway/quota.h"
#include "wire/json.h"

namespace penstock::wire {

struct QuotaCall {
  core::UserId user;
  core::QuotaRule rule;
};

// {userId, rateLimit, timeWindow}; a whole number may not be written as text.
Result<QuotaCall> decode_quota_call(JsonValue value);

// {userId, message, to?, idempotencyKey?}
Result<core::SendCall> decode_send_call(JsonValue value);

// {messageId, userId, to?, message, encoding, segments, acceptedAt}: what a provider is given.
std::string encode_message_context(const core::SendCall& call, const ItemId& id, Instant accepted);

// The value of a message on a bus, "101: Hello", and back. Headers beside it say the rest; `to`, of
// another producer too, is checked as that of a call.
std::string encode_message_line(core::UserId user, std::string_view message);
Result<core::SendCall> decode_message_line(std::string_view line, std::string_view to = {});

inline constexpr std::string_view kMessageIdHeader = "penstock-message-id";
inline constexpr std::string_view kAcceptedAtHeader = "penstock-accepted-at";
inline constexpr std::string_view kToHeader = "penstock-to";
inline constexpr std::string_view kTraceHeader = "traceparent";

// Whether it is one, as W3C's Trace Context has it.
bool is_traceparent(std::string_view text) noexcept;

// What the log shows of a context: "101: Hello".
Result<std::string> message_line(std::string_view context);

}  // namespace penstock::wire
