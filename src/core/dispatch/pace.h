// When items of one type go: their pace, how many to claim for it, and when failed ones come again.
//
// The pace: at most so many in *any* sliding second, evenly
// spread by a burst that bounds how many go back to back. Pure: whoever hands over says when.
//
// The span is a second and a little, so that the bound also holds where the items arrive, some
// milliseconds earlier or later; that little is all of the pace that is not used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/rng.h"
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

// How many items a dispatcher claims next: enough that the pace never waits for the store, few
// enough that what a crash leaves behind is a moment's work.
struct ClaimView {
  std::size_t held = 0;        // claimed and not handed over yet
  std::size_t batch_size = 0;  // of the item type
  std::optional<PaceLimit> pace;
};

// Two seconds of a pace: a claim takes milliseconds, a busy store some hundred.
inline constexpr std::int64_t kClaimAheadSeconds = 2;

// 0 = there is enough. Claims again only when half is gone: small claims cost as much as large
// ones.
constexpr std::size_t plan_claim(const ClaimView& view) noexcept {
  std::size_t wanted = 2 * view.batch_size;
  if (view.pace) {
    wanted =
        std::min<std::size_t>(wanted + static_cast<std::size_t>(view.pace->per_second),
                              static_cast<std::size_t>(view.pace->per_second) * kClaimAheadSeconds);
  }
  if (view.held * 2 > wanted) return 0;
  return std::min(view.batch_size, wanted - view.held);
}

// The wait after `retry_count` (from 1) failed attempts: doubles from `first` up to `longest`, and
// up to a tenth more, so that items that failed together do not come back together.
constexpr Millis retry_delay(Millis first, Millis longest, int retry_count, Rng& rng) noexcept {
  const int doublings = std::clamp(retry_count - 1, 0, 30);
  const std::int64_t step = std::min(longest.count(), first.count() << doublings);
  return Millis{step + rng.between(0, step / 10)};
}

// How much later than its time an item goes, within [0, window]: always the same for one item.
constexpr Millis jitter_of(std::string_view item_id, Millis window) noexcept {
  if (window <= Millis::zero()) return Millis::zero();
  std::uint64_t hash = 0;
  for (const char c : item_id) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return Millis{
      static_cast<std::int64_t>(scale64(hash, static_cast<std::uint64_t>(window.count()) + 1))};
}

}  // namespace penstock::core
