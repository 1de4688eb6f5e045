// ISO-8601 instants and durations, as the API reads and prints them. Total: any text gives a value
// or `invalid`; nothing throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace penstock {

// `2025-06-01T12:00:00Z`, `…+02:00`, up to nine fraction digits (cut to milliseconds); the offset
// is required; years 1970-2261 after it is applied. The error's `what` is a predicate ("must be
// …").
Result<Instant> parse_instant(std::string_view text);

// `2025-06-01T12:00:02.371Z`: UTC, always three fraction digits.
std::string format_instant(Instant instant);
void append_instant(std::string& out, Instant instant);

// `PT4S`, `PT0.5S`, `P1D`, `P1DT2H3M4.5S`, `P2W`: no years or months, no sign, at least one part,
// at most 100,000 days; finer than a millisecond is refused, since every duration of the API is in
// whole ms.
Result<Millis> parse_duration(std::string_view text);

// Days, hours, minutes and seconds, zero parts left out; parses back to the same value: `PT0S`,
// `PT4S`, `PT1M30S`, `P1D`.
std::string format_duration(Millis duration);

}  // namespace penstock
