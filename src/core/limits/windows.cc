#include "core/limits/windows.h"

#include <algorithm>

#include "core/limits/bucket.h"

namespace penstock::core {
namespace {

struct Counts {
  std::int64_t start = 0;  // of the window that holds the instant
  std::int64_t window = 1;
  std::int64_t current = 0;
  std::int64_t previous = 0;

  // In parts of 1 / window.
  Wide parts(std::int64_t at) const {
    return static_cast<Wide>(previous) * static_cast<std::uint64_t>(start + window - at) +
           static_cast<Wide>(current) * static_cast<std::uint64_t>(window);
  }
};

Counts counts_at(const LimitState& state, std::int64_t at) {
  const std::int64_t window = std::max<std::int64_t>(window_micros(state), 1);
  Counts counts{.start = at - at % window,
                .window = window,
                .current = state.windows.current,
                .previous = state.windows.previous};
  if (state.last >= counts.start) return counts;
  const bool neighbour = state.last >= counts.start - window;
  const bool sliding = state.type == LimitType::sliding_window_counter;
  counts.previous = neighbour && sliding ? counts.current : 0;
  counts.current = 0;
  return counts;
}

void give_back(Counts& counts, std::int64_t amount) {
  const std::int64_t from_current = std::min(counts.current, amount);
  counts.current -= from_current;
  counts.previous -= std::min(counts.previous, amount - from_current);
}

// When `previous` weighs no more than `room` whole counts: how far into the window.
std::int64_t elapsed_until(std::int64_t previous, std::int64_t room, std::int64_t window) {
  if (previous <= room) return 0;
  const Wide parts = static_cast<Wide>(room) * static_cast<std::uint64_t>(window);
  return window - static_cast<std::int64_t>(parts / static_cast<std::uint64_t>(previous));
}

// The first instant at which a cost within the capacity fits, if nobody else comes.
std::int64_t ready_at(const Limit& limit, const Counts& counts, std::int64_t cost) {
  const std::int64_t room = limit.capacity - cost - counts.current;
  if (room >= 0) return counts.start + elapsed_until(counts.previous, room, counts.window);
  const std::int64_t next = counts.start + counts.window;
  if (limit.type == LimitType::fixed_window) return next;
  return next + elapsed_until(counts.current, limit.capacity - cost, counts.window);
}

std::int64_t empty_at(const Limit& limit, const Counts& counts) {
  const bool carries_over = limit.type == LimitType::sliding_window_counter && counts.current > 0;
  return counts.start + counts.window * (carries_over ? 2 : 1);
}

}  // namespace

LimitStatus evaluate_windows(const Limit& limit, const LimitState& state, std::int64_t cost,
                             Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  const std::int64_t asked = now.time_since_epoch().count();
  Counts counts = counts_at(state, at);
  const Wide full = static_cast<Wide>(limit.capacity) * static_cast<std::uint64_t>(counts.window);
  LimitStatus status{.admitted = true, .limit = limit.capacity};
  if (cost > limit.capacity) {
    status.admitted = false;
    status.retry_after = kNever;
  } else if (cost > 0) {
    Counts charged = counts;
    charged.current += cost;
    status.admitted = charged.parts(at) <= full;
    if (status.admitted) counts = charged;
    if (!status.admitted) status.retry_after = Micros{ready_at(limit, counts, cost) - asked};
  } else if (cost < 0) {
    give_back(counts, -cost);
  }
  const Wide parts = counts.parts(at);
  if (parts < full) {
    status.remaining =
        static_cast<std::int64_t>(divide(full - parts, static_cast<std::uint64_t>(counts.window)));
  }
  if (parts > 0) status.reset_after = Micros{empty_at(limit, counts) - asked};
  return status;
}

void book_windows(LimitState& state, std::int64_t cost, Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  Counts counts = counts_at(state, at);
  if (cost > 0) {
    counts.current += cost;
  } else {
    give_back(counts, -cost);
  }
  state.windows = {.current = counts.current, .previous = counts.previous};
  state.last = at;
}

std::int64_t used_in_windows(const LimitState& state, std::int64_t at) noexcept {
  const Counts counts = counts_at(state, at);
  return static_cast<std::int64_t>(
      divide_up(counts.parts(at), static_cast<std::uint64_t>(counts.window)));
}

void change_windows(const Limit& limit, LimitState& state, std::int64_t at) noexcept {
  state.windows = {.current = used_in_windows(state, at), .previous = 0};
  state.window_seconds = static_cast<std::uint32_t>(limit.window.count());
  state.last = at;
}

}  // namespace penstock::core
