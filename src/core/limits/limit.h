// What a limit is, what may be one, and what a decision about it says. Pure; safe on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace penstock::core {

enum class LimitType : std::uint8_t {
  token_bucket,
  gcra,
  sliding_window,          // exact log
  sliding_window_counter,  // two buckets
  fixed_window,            // aligned to the epoch
};

constexpr bool is_bucket(LimitType type) noexcept {
  return type == LimitType::token_bucket || type == LimitType::gcra;
}

// Tokens per time as an exact fraction in lowest terms, so that 0.1/s, 2.5/s and 7 per minute lose
// nothing.
struct Rate {
  std::int64_t tokens = 0;
  std::int64_t micros = 1;

  friend bool operator==(const Rate&, const Rate&) = default;
};

struct Limit {
  LimitType type = LimitType::token_bucket;
  std::int64_t capacity = 1;  // tokens: the burst of a bucket, the maximum of a window
  Rate refill = {};           // of the two buckets
  Seconds window{60};         // of the three windows; for buckets, how far back usage is counted

  friend bool operator==(const Limit&, const Limit&) = default;
};

inline constexpr std::int64_t kCapacityMax = 1'000'000'000'000;  // the contract's 10^12

// A cost can never be admitted: no wait is long enough.
inline constexpr Micros kNever = Micros{-1};

// What a limit says about one cost at one instant.
struct LimitStatus {
  bool admitted = false;
  std::int64_t limit = 0;      // the capacity it was judged by
  std::int64_t remaining = 0;  // whole tokens left, after the charge when there was one
  Micros retry_after{0};       // zero when admitted; else until exactly when the same cost would be
                               // admitted if nobody else came, or kNever
  Micros reset_after{0};       // until nothing is used
};

// --- from what people write to a Limit: exact rates and the allowed ranges

inline constexpr int kRateDecimalsMax = 9;                        // one token in 30 years
inline constexpr std::int64_t kRatePerSecondMax = 1'000'000'000;  // a thousand per microsecond
inline constexpr Seconds kRatePeriodMax{1'000'000'000};           // keeps Rate::micros within 10^15
inline constexpr Seconds kLimitWindowMin{1};
inline constexpr Seconds kLimitWindowMax = std::chrono::days{366};  // a year is the longest quota

// Tokens per second from the text of a JSON number: "10", "0.1", "2.5", "1e3". Names `refillRate`.
Result<Rate> parse_rate(std::string_view text);

// `count` tokens every `period`, as redis-cell says it. Names `count` or `period`.
Result<Rate> rate_per(std::int64_t count, Seconds period);

// In lowest terms, positive, and within the maxima above: what the arithmetic of limits relies on.
bool valid(const Rate& rate) noexcept;

// Refuses what is out of range, naming `capacity`, `refillRate` or `windowSeconds`. A window limit
// does not look at the rate, so there anything passes.
Result<Limit> make_limit(LimitType type, std::int64_t capacity, Rate refill, Seconds window);

// One node's part of a limit that several nodes keep without asking each other: a part of 1 /
// `nodes` (at least 1) in capacity and rate, so that all parts together are never more than the
// limit, but for one exception: a part has room for at least one token.
Limit share_of(const Limit& limit, std::size_t nodes) noexcept;

}  // namespace penstock::core
