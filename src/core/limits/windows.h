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

// SLIDING_WINDOW: the exact log. A charge made at t counts in [t, t + window). Charges of one
// instant are one entry. Up to kLogEntriesMax entries the log is exact; when it is full, entries
// of one 2048th of the window are joined at the later instant, so that a charge may then count up
// to 0.05 % of the window too long and never too short. Functions that take a Limit expect a state
// made for it.

inline constexpr std::uint32_t kLogEntriesMax = 4096;  // 64 KiB for one key

LimitStatus evaluate_log(const Limit& limit, const LimitState& state, std::int64_t cost,
                         Instant now) noexcept;

// Books what was admitted, with at most `entries_max` (at least 8) entries. A negative cost takes
// the newest charges away first.
void book_log(LimitState& state, std::int64_t cost, Instant now,
              std::uint32_t entries_max) noexcept;

std::int64_t used_in_log(const LimitState& state, std::int64_t at) noexcept;

// The entries that still count at `at` go on under the new window.
void change_log(const Limit& limit, LimitState& state, std::int64_t at) noexcept;

// Adds an entry that is not before the last one. For the codec.
void append_to_log(LimitState& state, LogEntry entry, std::uint32_t entries_max) noexcept;

}  // namespace penstock::core
