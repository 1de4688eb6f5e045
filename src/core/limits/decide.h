// The decision about one key, or about several at once. Pure: `now` is a parameter, the usage goes
// in and comes out. A `now` before the newest instant that a state has seen counts as that instant,
// so time that goes back never mints. Limits are valid (make_limit); a state that was made for
// another limit is carried over: another capacity changes nothing about what is used, another rate
// or window keeps what is used now (rounded up), another type starts fresh.
//
// A cost of 0 is always admitted, and so is a negative one, which gives back: the newest charges
// first, never below nothing used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.h"
#include "core/limits/bucket.h"
#include "core/limits/limit.h"
#include "core/limits/state.h"
#include "core/limits/windows.h"

namespace penstock::core {

// Whether `state` needs no adopt() before `limit` can judge by it.
inline bool made_for(const LimitState& state, const Limit& limit) noexcept {
  return state.type == limit.type &&
         static_cast<std::int64_t>(state.window_seconds) == limit.window.count() &&
         (!is_bucket(limit.type) || state.bucket.rate == limit.refill);
}

// Carries `state` over to `limit`.
void adopt(const Limit& limit, LimitState& state, Instant now) noexcept;

// What charge() would answer. Changes nothing; with cost 0, how things stand.
LimitStatus evaluate(const Limit& limit, const LimitState& state, std::int64_t cost,
                     Instant now) noexcept;

// As charge(), in all cases.
LimitStatus charge_other(const Limit& limit, LimitState& state, std::int64_t cost, Instant now,
                         std::uint32_t log_entries_max) noexcept;

// The usual case: a bucket that was made for this limit admits. False: it is another, and nothing
// has happened. Always inline, for stores that decide millions of times a second.
[[gnu::always_inline]] inline bool charge_if_usual(const Limit& limit, LimitState& state,
                                                   std::int64_t cost, Instant now,
                                                   FastCharge& charge) noexcept {
  return is_bucket(limit.type) && cost > 0 && made_for(state, limit) &&
         charge_bucket_fast(limit, state, cost, now, charge);
}

// What such an admission says, field by field.
[[gnu::always_inline]] inline void tell(const Limit& limit, const FastCharge& charge,
                                        LimitStatus& status) noexcept {
  status.admitted = true;
  status.limit = limit.capacity;
  status.remaining = charge.remaining();
  status.retry_after = Micros{0};
  status.reset_after = charge.reset_after();
}

// Decides, and charges if it admits. Unless the cost is 0 the state is adopted either way, so that
// what a denial promises holds. `log_entries_max` is for stores that must save memory.
inline LimitStatus charge(const Limit& limit, LimitState& state, std::int64_t cost, Instant now,
                          std::uint32_t log_entries_max = kLogEntriesMax) noexcept {
  LimitStatus status;
  if (FastCharge charge; charge_if_usual(limit, state, cost, now, charge)) {
    tell(limit, charge, status);
  } else {
    status = charge_other(limit, state, cost, now, log_entries_max);
  }
  return status;
}

// Tokens in use, rounded up.
std::int64_t used(const LimitState& state, Instant now) noexcept;

// Cost admitted in the last window, less what was given back.
std::int64_t window_count(const LimitState& state, Instant now) noexcept;

// Says nothing that a fresh state would not say: it may be forgotten.
bool idle(const LimitState& state, Instant now) noexcept;

// From when on idle() holds if nobody comes: how long a store has to keep the state. Never before
// the newest instant that the state has seen.
Instant idle_at(const LimitState& state) noexcept;

// For a state that comes from a clock that was ahead of `now`: moves it back, so that it does not
// stand still until then.
void bring_back(LimitState& state, Instant now) noexcept;

struct LimitUse {
  const Limit* limit = nullptr;
  LimitState* state = nullptr;
  bool shadow = false;
};

struct Verdict {
  bool admitted = false;
  std::size_t bound = 0;  // as store::LimitAnswer says
};

// What binds, of statuses that were decided elsewhere by the same rules; only the shadows of `uses`
// are looked at.
std::size_t bound_of(std::span<const LimitUse> uses, std::span<const LimitStatus> statuses,
                     bool admitted) noexcept;

// Several limits at once: every one that is not a shadow admits and all are charged, or none is
// charged. A shadow never denies and is charged only if it would have admitted. A status says what
// its own limit thinks of the cost, and what is left after what really happened.
Verdict charge_all(std::span<const LimitUse> uses, std::int64_t cost, Instant now,
                   std::span<LimitStatus> statuses,
                   std::uint32_t log_entries_max = kLogEntriesMax) noexcept;

}  // namespace penstock::core
