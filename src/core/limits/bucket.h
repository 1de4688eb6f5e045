// TOKEN_BUCKET and GCRA. A bucket's used tokens drain at the rate; a cost is admitted when it fits
// under the capacity. GCRA says the same in the time domain (the theoretical arrival time is when
// the bucket will be empty), so both share this arithmetic; a test holds it against a textbook GCRA
// with exact fractions. Everything is exact: units are 1 / rate.micros tokens. Inline because a
// decision should cost a handful of nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/time.h"
#include "core/limits/limit.h"
#include "core/limits/reciprocal.h"
#include "core/limits/state.h"

namespace penstock::core {

// Waits longer than this say this: 146,000 years.
inline constexpr Micros kWaitMax{std::int64_t{1} << 62};

// Quotients of 64-bit numbers, the usual case, take one instruction; rates are often 1 in so many.
constexpr Wide divide(Wide dividend, std::uint64_t divisor) noexcept {
  if (divisor == 1) return dividend;
  if (dividend >> 64 == 0) [[likely]]
    return static_cast<std::uint64_t>(dividend) / divisor;
  return dividend / divisor;
}

constexpr Wide divide_up(Wide dividend, std::uint64_t divisor) noexcept {
  return divide(dividend + (divisor - 1), divisor);
}

constexpr Micros to_wait(Wide micros) noexcept {
  return micros > static_cast<Wide>(kWaitMax.count()) ? kWaitMax
                                                      : Micros{static_cast<std::int64_t>(micros)};
}

constexpr std::int64_t window_micros(const LimitState& state) noexcept {
  return std::int64_t{state.window_seconds} * 1'000'000;
}

// A state does not go back in time: an earlier `now` counts as the newest instant seen.
inline std::int64_t effective_micros(const LimitState& state, Instant now) noexcept {
  return std::max(now.time_since_epoch().count(), state.last);
}

inline Wide bucket_units_at(const LimitState& state, std::int64_t at) noexcept {
  const Wide used = state.bucket.units();
  const Wide drained = static_cast<Wide>(static_cast<std::uint64_t>(at - state.last)) *
                       static_cast<std::uint64_t>(state.bucket.rate.tokens);
  return used > drained ? used - drained : 0;
}

// The recent counts as of the window that holds `at`.
inline void roll_recent(const LimitState& state, std::int64_t at, std::uint32_t& previous,
                        std::uint32_t& current) noexcept {
  previous = state.bucket.recent_previous;
  current = state.bucket.recent_current;
  // Windows are whole seconds: within one second there is nothing to divide by the window for.
  constexpr std::uint64_t kSecond = 1'000'000;
  if (static_cast<std::uint64_t>(state.last) >=
      static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(at) % kSecond) [[likely]] {
    return;
  }
  const std::int64_t window = window_micros(state);
  const std::int64_t start =
      at - static_cast<std::int64_t>(static_cast<std::uint64_t>(at) %
                                     static_cast<std::uint64_t>(std::max<std::int64_t>(window, 1)));
  if (state.last >= start) return;
  previous = state.last >= start - window ? current : 0;
  current = 0;
}

// `cost` is not below -kCapacityMax. The state was made for `limit`. Answers the units in use after
// it.
inline Wide evaluate_bucket(const Limit& limit, const LimitState& state, std::int64_t cost,
                            Instant now, LimitStatus& status) noexcept {
  const auto per_token = static_cast<std::uint64_t>(limit.refill.micros);
  const auto tokens = static_cast<std::uint64_t>(limit.refill.tokens);
  const std::int64_t capacity = limit.capacity;
  const std::int64_t at = effective_micros(state, now);
  const auto behind = static_cast<std::uint64_t>(at - now.time_since_epoch().count());
  const Wide full = static_cast<Wide>(static_cast<std::uint64_t>(capacity)) * per_token;
  Wide used = bucket_units_at(state, at);
  bool admitted = true;
  Micros retry_after{0};
  if (cost > 0) {
    const Wide charged = used + static_cast<Wide>(static_cast<std::uint64_t>(cost)) * per_token;
    admitted = charged <= full;
    if (admitted) [[likely]] {
      used = charged;
    } else {
      retry_after = cost > capacity ? kNever : to_wait(divide_up(charged - full, tokens) + behind);
    }
  } else if (cost < 0) {
    used -= std::min(used, static_cast<Wide>(static_cast<std::uint64_t>(-cost)) * per_token);
  }
  status.admitted = admitted;
  status.limit = capacity;
  status.remaining = used < full ? static_cast<std::int64_t>(divide(full - used, per_token)) : 0;
  status.retry_after = retry_after;
  status.reset_after = used > 0 ? to_wait(divide_up(used, tokens) + behind) : Micros{0};
  return used;
}

inline std::uint32_t saturated(std::int64_t count) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

inline void charge_bucket(const Limit& limit, LimitState& state, std::int64_t cost, Instant now,
                          LimitStatus& status) noexcept {
  const Wide units = evaluate_bucket(limit, state, cost, now, status);
  if (!status.admitted || cost == 0) return;
  const std::int64_t at = effective_micros(state, now);
  std::uint32_t previous = 0;
  std::uint32_t current = 0;
  roll_recent(state, at, previous, current);
  if (cost > 0) {
    current = saturated(std::int64_t{current} + cost);
  } else {
    const std::int64_t left = std::int64_t{current} + cost;
    current = saturated(std::max<std::int64_t>(left, 0));
    previous = saturated(std::max<std::int64_t>(previous + std::min<std::int64_t>(left, 0), 0));
  }
  state.bucket.recent_previous = previous;
  state.bucket.recent_current = current;
  state.bucket.set_units(units);
  state.last = at;
}

// What charge_bucket_fast says besides yes, not divided yet: that can wait until the lock is free.
struct FastCharge {
  std::uint64_t left;  // in units
  std::uint64_t used;  // in units; at least 1
  std::uint64_t per_token;
  std::uint64_t tokens;

  // `quick` is of the same rate, or of none.
  std::int64_t remaining(const RateReciprocals& quick = {}) const noexcept {
    return static_cast<std::int64_t>(quick.micros.divide(left, per_token));
  }
  Micros reset_after(const RateReciprocals& quick = {}) const noexcept {
    // Rates are often 1 in so many.
    const std::uint64_t micros = tokens == 1 ? used : quick.tokens.divide(used - 1, tokens) + 1;
    return Micros{static_cast<std::int64_t>(std::min(micros, std::uint64_t{1} << 62))};
  }
};

// The usual case of charge_bucket: a positive cost that is admitted, in numbers of 64 bits. False:
// it is not that case, and nothing has happened. Always inline, and the answer in registers: a
// status that is returned goes through memory and costs as much as the decision.
[[gnu::always_inline]] inline bool charge_bucket_fast(const Limit& limit, LimitState& state,
                                                      std::int64_t cost, Instant now,
                                                      FastCharge& charge) noexcept {
  const auto per_token = static_cast<std::uint64_t>(limit.refill.micros);
  const auto tokens = static_cast<std::uint64_t>(limit.refill.tokens);
  const std::int64_t at = now.time_since_epoch().count();
  const std::int64_t last = state.last;
  if (at < last || state.bucket.units_high != 0) [[unlikely]]
    return false;
  std::uint64_t full = 0;
  std::uint64_t added = 0;
  std::uint64_t drained = 0;
  const auto capacity = static_cast<std::uint64_t>(limit.capacity);
  const auto passed = static_cast<std::uint64_t>(at - last);
  if (__builtin_mul_overflow(capacity, per_token, &full)) [[unlikely]]
    return false;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(cost), per_token, &added)) [[unlikely]] {
    return false;
  }
  if (__builtin_mul_overflow(passed, tokens, &drained)) [[unlikely]]
    return false;
  const std::uint64_t before = state.bucket.units_low;
  const std::uint64_t used = before > drained ? before - drained : 0;
  if (used > full || added > full - used) [[unlikely]]
    return false;
  const std::uint64_t charged = used + added;
  std::uint32_t previous = 0;
  std::uint32_t current = 0;
  roll_recent(state, at, previous, current);
  state.bucket.recent_previous = previous;
  state.bucket.recent_current = saturated(std::int64_t{current} + cost);
  state.bucket.units_low = charged;
  state.last = at;
  charge = {.left = full - charged, .used = charged, .per_token = per_token, .tokens = tokens};
  return true;
}

// Cost admitted in the last window: what this one holds and the share of the one before that is
// still within a window's length, rounded up.
std::int64_t recent_bucket_count(const LimitState& state, std::int64_t at) noexcept;

// Used tokens stay the same under another rate, rounded up by less than one unit of the new one.
void change_bucket(const Limit& limit, LimitState& state, std::int64_t at) noexcept;

}  // namespace penstock::core
