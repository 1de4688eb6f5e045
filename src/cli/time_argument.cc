#include "cli/time_argument.h"

#include "base/iso8601.h"

namespace penstock::cli {

Result<Instant> parse_time_argument(std::string_view text, Instant now) {
  if (text == "now") return cut_to_millis(now);
  if (text.starts_with("now+") || text.starts_with("now-")) {
    const Result<Millis> distance = parse_duration(text.substr(4));
    if (!distance) return std::unexpected(distance.error());
    const Instant at = cut_to_millis(now) + (text[3] == '+' ? *distance : -*distance);
    if (at < kInstantMin || at >= kInstantEnd) {
      return fail(ErrorKind::invalid, "must be in the years 1970 to 2261");
    }
    return at;
  }
  if (const Result<Instant> instant = parse_instant(text)) return *instant;
  return fail(ErrorKind::invalid,
              "must be a time such as 2025-06-01T12:00:00Z, now, now+PT1H or now-P1D");
}

}  // namespace penstock::cli
