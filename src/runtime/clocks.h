// What time it is, how long something took, and how long it may still take: the only places that
// ask the machine for the time, and for chance. Without third parties: the installed library has
// it.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

#include "base/time.h"
#include "runtime/tick_clock.h"

namespace penstock::runtime {

class SystemClock final : public Clock {
 public:
  Instant now() const noexcept override;
};

// Another number in every life of every process, for Rng and for hashes that nobody may foresee.
std::uint64_t random_seed();

// Time since some fixed point that never goes back.
using MonotonicSource = Micros (*)() noexcept;

// Wall time at the start plus the monotonic time since: agrees with the world when it is made, and
// after that neither jumps nor stands still when somebody sets the machine's clock. For limits,
// where a jump would mint tokens or freeze them. Thread-safe.
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

// How long something took, on the steady clock.
class Stopwatch {
 public:
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  double millis() const noexcept { return seconds() * 1'000; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// How long a call may still take. Counts on the steady clock; a value, copied freely.
class Deadline {
 public:
  explicit Deadline(Millis limit) noexcept : limit_(limit) {}

  Millis remaining() const noexcept {
    const Millis passed{static_cast<std::int64_t>(watch_.seconds() * 1000.0)};
    return std::max(Millis::zero(), limit_ - passed);
  }
  bool passed() const noexcept { return remaining() == Millis::zero(); }
  Millis limit() const noexcept { return limit_; }

 private:
  Stopwatch watch_;
  Millis limit_;
};

// Waits for sockets at most until a deadline. Safe on any thread.
// True = one is ready, or the kernel refuses to say (the caller's next read finds out why); false =
// time is up. Which one and for what stands in `descriptors`.
bool poll_until(std::span<pollfd> descriptors, const Deadline& deadline) noexcept;

}  // namespace penstock::runtime
