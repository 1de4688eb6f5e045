// From what people write to a Limit: exact rates and the allowed ranges. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"

namespace penstock::core {

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

}  // namespace penstock::core
