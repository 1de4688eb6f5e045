// Who may send how much: a number of messages in a window that begins with the first message after
// the one before has ended. There is no job that begins windows. Plain data and pure rules.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"
#include "base/time.h"

namespace penstock::core {

// A number that the caller gave its user.
struct UserId {
  std::int32_t raw = 0;

  friend auto operator<=>(const UserId&, const UserId&) = default;
};

using Minutes = std::chrono::minutes;

// All three are 32-bit numbers to the API; a window of so many minutes after any instant that the
// API accepts still fits into an Instant.
inline constexpr std::int64_t kUserIdMax = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kRateLimitMax = std::numeric_limits<std::int32_t>::max();
inline constexpr Minutes kTimeWindowMax{std::numeric_limits<std::int32_t>::max()};

struct QuotaRule {
  std::int64_t rate_limit = 1;
  Minutes window{1};

  friend bool operator==(const QuotaRule&, const QuotaRule&) = default;
};

struct Quota {
  QuotaRule rule;
  std::int64_t count = 0;  // used up in this window
  Instant refreshed{};     // when this window began

  Instant ends() const noexcept { return refreshed + rule.window; }

  friend bool operator==(const Quota&, const Quota&) = default;
};

enum class QuotaVerdict : std::uint8_t {
  admitted,
  limited,  // not in this window
  never,    // it costs more than a whole window allows
};

struct QuotaStep {
  QuotaVerdict verdict = QuotaVerdict::admitted;
  // As it was, unless admitted. A window that began in the future begins now, also of one that is
  // limited: then it must be stored, or it would begin now with every call.
  Quota next;
  Micros retry_after{0};  // of one that is limited: until the next window
};

// A new rule begins a new window.
inline Quota begin_quota(const QuotaRule& rule, Instant now) noexcept {
  return {.rule = rule, .count = 0, .refreshed = now};
}

inline QuotaStep charge_quota(const Quota& quota, std::int64_t cost, Instant now) noexcept {
  if (cost > quota.rule.rate_limit) {
    return {.verdict = QuotaVerdict::never, .next = quota, .retry_after = Micros::zero()};
  }
  Quota next = now >= quota.ends() ? begin_quota(quota.rule, now) : quota;
  next.refreshed = std::min(next.refreshed, now);  // the clock was ahead
  if (next.count + cost > next.rule.rate_limit) {
    return {.verdict = QuotaVerdict::limited, .next = next, .retry_after = next.ends() - now};
  }
  next.count += cost;
  return {.verdict = QuotaVerdict::admitted, .next = next, .retry_after = Micros::zero()};
}

// Takes a charge back, unless its window has gone since.
inline Quota give_back_quota(Quota quota, std::int64_t cost, Instant charged_in) noexcept {
  if (quota.refreshed == charged_in) quota.count = std::max<std::int64_t>(quota.count - cost, 0);
  return quota;
}

// Refuses a number that is none of a user, naming the field as the API does.
inline Result<UserId> check_user_id(std::int64_t user) {
  if (user >= 0 && user <= kUserIdMax) return UserId{static_cast<std::int32_t>(user)};
  return invalid_field("userId", "must be from 0 to " + std::to_string(kUserIdMax));
}

}  // namespace penstock::core

namespace penstock {

template <>
struct Description<core::QuotaRule> {
  using Rule = core::QuotaRule;

  static constexpr std::string_view name = "GatewayUser";
  static constexpr std::array fields = {
      required(range(field<&Rule::rate_limit>("rateLimit", "How many messages in a window."), 1,
                     core::kRateLimitMax)),
      required(range(field<&Rule::window>("timeWindow", "How many minutes a window has."), 1,
                     core::kTimeWindowMax.count()))};
};

}  // namespace penstock
