// How long to leave a server alone that could not be reached: doubles from 50 ms to 1 s, each time
// with jitter, so that the nodes of a fleet do not come back in step. One thread at a time.
#pragma once

#include <algorithm>

#include "base/rng.h"
#include "base/time.h"

namespace penstock::runtime {

class Backoff {
 public:
  static constexpr Millis kFirst{50};
  // A database that is back is noticed this soon, and never asked more often than twice a second.
  static constexpr Millis kLongest{1'000};

  explicit Backoff(std::uint64_t seed) noexcept : rng_(seed) {}

  // The pause after one more failure: between half of its step and all of it.
  Millis next() noexcept {
    const Millis step = std::min(kLongest, Millis{kFirst.count() << std::min(failures_, 10)});
    ++failures_;
    return Millis{rng_.between(step.count() / 2, step.count())};
  }
  void reset() noexcept { failures_ = 0; }
  int failures() const noexcept { return failures_; }

 private:
  Rng rng_;
  int failures_ = 0;
};

}  // namespace penstock::runtime
