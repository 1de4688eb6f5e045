// Times as people give them on a command line. Pure; safe on any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace penstock::cli {

// `2025-06-01T12:00:00Z`, `now`, `now+PT1H`, `now-P1D`. The error's `what` is a predicate.
Result<Instant> parse_time_argument(std::string_view text, Instant now);

}  // namespace penstock::cli
