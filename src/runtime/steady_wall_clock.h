// Wall time at the start plus the monotonic time since: agrees with the world when it is made, and
// after that neither jumps nor stands still when somebody sets the machine's clock. For limits,
// where a jump would mint tokens or freeze them. Thread-safe.
#pragma once

#include "base/time.h"
#include "runtime/tick_clock.h"

namespace penstock::runtime {

// Time since some fixed point that never goes back.
using MonotonicSource = Micros (*)() noexcept;

class SteadyWallClock final : public Clock {
 public:
  SteadyWallClock() noexcept;
  // `wall` is read once.
  SteadyWallClock(const Clock& wall, MonotonicSource monotonic) noexcept;

  Instant now() const noexcept override {
    return start_ + (monotonic_ == nullptr ? tick_micros() : monotonic_());
  }

  // The same of a clock on the machine's source, of a moment that was read.
  [[gnu::always_inline]] Instant at(const TickMoment& moment) const noexcept {
    return start_ + moment.micros();
  }

 private:
  MonotonicSource monotonic_;  // null = the machine's, called directly
  Instant start_;              // the wall time at which the monotonic source was zero
};

}  // namespace penstock::runtime
