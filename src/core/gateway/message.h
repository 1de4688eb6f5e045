// One text message on its way through the gateway. Plain data and pure rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item.h"
#include "core/gateway/quota.h"
#include "core/gateway/sms.h"

namespace penstock::core {

// What a caller asks: send this for that user.
struct SendCall {
  UserId user;
  std::string message;  // UTF-8, not blank
  std::string to;       // the number to send it to; empty = the provider knows the user's
  SmsSize size;
  std::string key;  // idempotencyKey; empty = none. Written as ids are
  BodyDigest digest{};
  std::string trace = {};  // traceparent of the request; empty = none
};

// What is kept of every attempt to send: counts by user and minute; or also each one for itself,
// with or without the text of its message.
enum class AttemptDetail : std::uint8_t { counts, events, texts };

// A key is remembered this long after its message was accepted.
inline constexpr Millis kKeyTerm = std::chrono::hours{24};

// For how long after that a store answers for a key that it still has. Retention alone takes keys
// out, which goes by more than the clock: a clock that is ahead must not send a message twice. Only
// tests, which say what time it is, see a key expire by that time.
constexpr Millis key_term(const std::optional<Instant>& told) noexcept {
  return told ? kKeyTerm : Millis{std::chrono::days{36'600}};
}

// What a message counts against the quota of its user.
enum class MessageCost : std::uint8_t { message, segments };

constexpr std::int64_t cost_of(const SmsSize& size, MessageCost cost) noexcept {
  return cost == MessageCost::segments ? size.segments : 1;
}

// A telephone number: digits, up to 20 of them, with a plus before an international one.
bool is_phone_number(std::string_view text) noexcept;

// Whether there is nothing but white space and control characters in it.
bool is_blank(std::string_view message) noexcept;

// 26 characters of time and chance, and the user: `01JD3Y5ZK8…-101`. Sorts by time; unique as far
// as `chance` is, in one millisecond.
ItemId make_message_id(Instant now, UserId user, std::uint64_t chance, std::uint16_t more_chance);

// When such an id was made; only of one whose user is known.
Instant time_of_message(std::string_view id) noexcept;

// Whose message it is; none when this is no id of a message.
std::optional<UserId> user_of_message(std::string_view id) noexcept;

}  // namespace penstock::core
