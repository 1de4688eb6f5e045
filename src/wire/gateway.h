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

// What the log shows of a context: "101: Hello".
Result<std::string> message_line(std::string_view context);

}  // namespace penstock::wire
