// How fast items of one type may be handed over: at most so many in *any* sliding second, evenly
// spread by a burst that bounds how many go back to back. Pure: whoever hands over says when.
//
// The span is a second and a little, so that the bound also holds where the items arrive, some
// milliseconds earlier or later; that little is all of the pace that is not used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/time.h"

namespace penstock::core {

struct PaceLimit {
  std::int64_t per_second = 1;  // from 1 to kPerSecondMax
  std::int64_t burst = 1;       // from 1; above per_second it means per_second

  friend bool operator==(const PaceLimit&, const PaceLimit&) = default;
};

inline constexpr std::int64_t kPerSecondMax = 1'000'000;  // 8 MB of instants are remembered
inline constexpr Micros kPaceSpan{1'010'000};             // 99 % of a second's worth

// A tenth of a second's worth: a dispatcher that is late by less loses nothing.
constexpr std::int64_t default_burst(std::int64_t per_second) noexcept {
  return per_second < 10 ? 1 : per_second / 10;
}

class Pace {
 public:
  // No limit = no pace. Nothing goes in the first span: whoever had the turn before may have used
  // all of the last second.
  Pace(std::optional<PaceLimit> limit, Instant now) noexcept;

  // The first instant at which one more may go; not before `now`.
  Instant next(Instant now) const noexcept;
  // One goes at `at`, which next() allowed and which is not before the last one.
  void record(Instant at);
  // One that was recorded at `at` did not go after all.
  void take_back(Instant at) noexcept;

  // A changed limit counts at once; what went before still counts.
  void set_limit(std::optional<PaceLimit> limit) noexcept { limit_ = limit; }
  const std::optional<PaceLimit>& limit() const noexcept { return limit_; }

 private:
  Micros interval() const noexcept { return kPaceSpan / limit_->per_second; }
  void forget_before(Instant instant);

  std::optional<PaceLimit> limit_;
  Instant start_;             // nothing goes before
  std::deque<Instant> gone_;  // within the last span, in order
  Instant even_{};            // when the items so far would have gone at even intervals
};

}  // namespace penstock::core
