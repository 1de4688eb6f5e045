// FIXED_WINDOW and SLIDING_WINDOW_COUNTER: counts per window of time, aligned to the epoch. The
// counter weighs the previous window by the part of it that is still within a window's length:
// previous * (window - elapsed) + (current + cost) * window <= capacity * window, exactly.
// Functions that take a Limit expect a state made for it. Pure.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "core/limits/limit.h"
#include "core/limits/state.h"

namespace penstock::core {

LimitStatus evaluate_windows(const Limit& limit, const LimitState& state, std::int64_t cost,
                             Instant now) noexcept;

// Books what was admitted. A negative cost empties the current window first, as if the newest
// charges had not been.
void book_windows(LimitState& state, std::int64_t cost, Instant now) noexcept;

// Used at `at`, rounded up.
std::int64_t used_in_windows(const LimitState& state, std::int64_t at) noexcept;

// What is used moves into the window that holds `at`.
void change_windows(const Limit& limit, LimitState& state, std::int64_t at) noexcept;

}  // namespace penstock::core
