#include "core/limits/decide.h"

#include <algorithm>

#include "base/check.h"
#include "core/limits/windows.h"

namespace penstock::core {
namespace {

// Nobody can have used more, so that giving back more means the same and cannot overflow.
std::int64_t bounded(std::int64_t cost) { return std::max(cost, -kCapacityMax); }

LimitState fresh_for(const Limit& limit) {
  LimitState state;
  state.type = limit.type;
  state.window_seconds = static_cast<std::uint32_t>(limit.window.count());
  switch (limit.type) {
    case LimitType::token_bucket:
    case LimitType::gcra:
      state.bucket.rate = limit.refill;
      break;
    case LimitType::sliding_window:
      state.log = {};
      break;
    case LimitType::sliding_window_counter:
    case LimitType::fixed_window:
      state.windows = {};
      break;
  }
  return state;
}

LimitStatus evaluate_made(const Limit& limit, const LimitState& state, std::int64_t cost,
                          Instant now) {
  LimitStatus status;
  switch (limit.type) {
    case LimitType::token_bucket:
    case LimitType::gcra:
      evaluate_bucket(limit, state, cost, now, status);
      return status;
    case LimitType::sliding_window:
      return evaluate_log(limit, state, cost, now);
    case LimitType::sliding_window_counter:
    case LimitType::fixed_window:
      return evaluate_windows(limit, state, cost, now);
  }
  return {};
}

// Whether `a` binds rather than `b`, which stands before it.
bool binds_more(const LimitStatus& a, const LimitStatus& b, bool admitted) {
  if (admitted) return a.remaining < b.remaining;
  if (a.admitted || b.admitted) return b.admitted && !a.admitted;
  if (b.retry_after == kNever) return false;
  return a.retry_after == kNever || a.retry_after > b.retry_after;
}

}  // namespace

void adopt(const Limit& limit, LimitState& state, Instant now) noexcept {
  if (made_for(state, limit)) return;
  if (state.type != limit.type || state.last == 0) {
    // The newest instant is kept: a key stays safe from time that goes back.
    const std::int64_t last = state.last;
    state = fresh_for(limit);
    state.last = last;
    return;
  }
  const std::int64_t at = effective_micros(state, now);
  switch (limit.type) {
    case LimitType::token_bucket:
    case LimitType::gcra:
      return change_bucket(limit, state, at);
    case LimitType::sliding_window:
      return change_log(limit, state, at);
    case LimitType::sliding_window_counter:
    case LimitType::fixed_window:
      return change_windows(limit, state, at);
  }
}

LimitStatus evaluate(const Limit& limit, const LimitState& state, std::int64_t cost,
                     Instant now) noexcept {
  if (made_for(state, limit)) return evaluate_made(limit, state, bounded(cost), now);
  LimitState adopted(state);
  adopt(limit, adopted, now);
  return evaluate_made(limit, adopted, bounded(cost), now);
}

LimitStatus charge_other(const Limit& limit, LimitState& state, std::int64_t cost, Instant now,
                         std::uint32_t log_entries_max) noexcept {
  if (cost == 0) return evaluate(limit, state, cost, now);
  cost = bounded(cost);
  adopt(limit, state, now);
  LimitStatus status;
  if (is_bucket(limit.type)) {
    charge_bucket(limit, state, cost, now, status);
    return status;
  }
  status = evaluate_made(limit, state, cost, now);
  if (!status.admitted) return status;
  if (limit.type == LimitType::sliding_window) {
    book_log(state, cost, now, log_entries_max);
  } else {
    book_windows(state, cost, now);
  }
  return status;
}

std::int64_t used(const LimitState& state, Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  switch (state.type) {
    case LimitType::token_bucket:
    case LimitType::gcra:
      return static_cast<std::int64_t>(divide_up(
          bucket_units_at(state, at), static_cast<std::uint64_t>(state.bucket.rate.micros)));
    case LimitType::sliding_window:
      return used_in_log(state, at);
    case LimitType::sliding_window_counter:
    case LimitType::fixed_window:
      return used_in_windows(state, at);
  }
  return 0;
}

std::int64_t window_count(const LimitState& state, Instant now) noexcept {
  if (!is_bucket(state.type)) return used(state, now);
  return recent_bucket_count(state, effective_micros(state, now));
}

bool idle(const LimitState& state, Instant now) noexcept {
  const std::int64_t at = effective_micros(state, now);
  if (!is_bucket(state.type)) return used(state, now) == 0;
  // Cheap first: a sweep asks this of every key.
  if (bucket_units_at(state, at) > 0) return false;
  return recent_bucket_count(state, at) == 0;
}

Instant idle_at(const LimitState& state) noexcept {
  const std::int64_t window = std::max<std::int64_t>(window_micros(state), 1);
  const std::int64_t next = state.last - state.last % window + window;  // window's start
  Micros at{state.last};
  switch (state.type) {
    case LimitType::token_bucket:
    case LimitType::gcra: {
      const auto tokens =
          static_cast<std::uint64_t>(std::max<std::int64_t>(state.bucket.rate.tokens, 1));
      at += std::min(to_wait(divide_up(state.bucket.units(), tokens)),
                     kInstantEnd.time_since_epoch());
      if (window_micros(state) == 0) break;
      if (state.bucket.recent_previous > 0) at = std::max(at, Micros{next});
      if (state.bucket.recent_current > 0) at = std::max(at, Micros{next + window});
      break;
    }
    case LimitType::sliding_window:
      if (state.log.count > 0) {
        at = std::max(at,
                      Micros{state.log.entries[state.log.first + state.log.count - 1].at + window});
      }
      break;
    case LimitType::sliding_window_counter:
      if (state.windows.previous > 0) at = Micros{next};
      if (state.windows.current > 0) at = Micros{next + window};
      break;
    case LimitType::fixed_window:
      if (state.windows.current > 0) at = Micros{next};
      break;
  }
  return Instant{at};
}

void bring_back(LimitState& state, Instant now) noexcept {
  const std::int64_t ahead = state.last - now.time_since_epoch().count();
  if (ahead <= 0) return;
  state.last -= ahead;
  if (state.type != LimitType::sliding_window) return;
  for (std::uint32_t i = 0; i < state.log.count; ++i) {
    state.log.entries[state.log.first + i].at -= ahead;
  }
}

std::size_t bound_of(std::span<const LimitUse> uses, std::span<const LimitStatus> statuses,
                     bool admitted) noexcept {
  const bool all_shadow = std::ranges::all_of(uses, &LimitUse::shadow);
  std::size_t bound = uses.size();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].shadow && !all_shadow) continue;
    if (bound == uses.size() || binds_more(statuses[i], statuses[bound], admitted)) bound = i;
  }
  return bound;
}

Verdict charge_all(std::span<const LimitUse> uses, std::int64_t cost, Instant now,
                   std::span<LimitStatus> statuses, std::uint32_t log_entries_max) noexcept {
  PENSTOCK_CHECK(!uses.empty());
  PENSTOCK_CHECK(statuses.size() == uses.size());
  Verdict verdict{.admitted = true};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (cost != 0) adopt(*uses[i].limit, *uses[i].state, now);
    statuses[i] = evaluate(*uses[i].limit, *uses[i].state, cost, now);
    verdict.admitted = verdict.admitted && (statuses[i].admitted || uses[i].shadow);
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!statuses[i].admitted) continue;
    if (verdict.admitted) {
      statuses[i] = charge(*uses[i].limit, *uses[i].state, cost, now, log_entries_max);
    } else {
      statuses[i] = evaluate(*uses[i].limit, *uses[i].state, 0, now);
    }
  }
  verdict.bound = bound_of(uses, statuses, verdict.admitted);
  return verdict;
}

}  // namespace penstock::core
