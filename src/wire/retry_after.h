// The Retry-After header of HTTP. Pure; any text gives a duration or nothing.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace penstock::wire {

// Longer ones count as this: nobody means more, and sums of times stay far from their end.
inline constexpr Millis kRetryAfterMax = std::chrono::days{365};

// Whole seconds, or an instant in any of the three forms of RFC 9110 (one that has passed = zero).
std::optional<Millis> parse_retry_after(std::string_view value, Instant now) noexcept;

// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
// The name of the day is not compared with the date. `now` tells the century of two digits.
std::optional<Instant> parse_http_date(std::string_view text, Instant now) noexcept;

}  // namespace penstock::wire
