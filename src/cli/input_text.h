// What people type in place of a value: a time from now, text from a file or standard input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace penstock::cli {

// All of a file; "-" is standard input. More than `bytes_max` is `invalid`.
Result<std::string> read_whole(const std::string& path, std::size_t bytes_max);

// The text itself; `@FILE` and `-` stand for what is in there.
Result<std::string> text_argument(const std::string& text, std::size_t bytes_max);

// Times as people give them on a command line. Pure; safe on any thread.

// `2025-06-01T12:00:00Z`, `now`, `now+PT1H`, `now-P1D`. The error's `what` is a predicate.
Result<Instant> parse_time_argument(std::string_view text, Instant now);

}  // namespace penstock::cli
