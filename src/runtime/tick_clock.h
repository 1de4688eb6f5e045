// Monotonic time from the processor's tick counter, for code that asks at every decision: about
// half the price of clock_gettime. Thread-safe, since every thread has a state of its own.
//
// A thread ties its counter to CLOCK_MONOTONIC anew every millisecond and extrapolates in between,
// with the rate it measured over the last such interval; so it follows the kernel's clock within
// microseconds whatever happens to either. It trusts a rate only when two intervals in a row agree,
// and reads CLOCK_MONOTONIC itself until then, after any surprise (a suspended machine, a counter
// that jumps), and always on a machine whose counter may change its pace. On one thread time never
// goes back; two threads may disagree by kTickErrorMax.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace penstock::runtime {

// Reading both clocks takes well under a microsecond, or is tried again; the rest is the drift of
// one interval at the 500 ppm that NTP may slew.
inline constexpr Micros kTickErrorMax{5};

// CLOCK_MONOTONIC, cut to microseconds.
Micros monotonic_micros() noexcept;

// The state of one thread. Ticks and time come from outside, so that tests can make both up.
class TickScale {
 public:
  // Both clocks at one moment. `sharp` = they were read close enough to each other to be tied.
  struct Reading {
    std::uint64_t ticks = 0;
    std::int64_t nanos = 0;
    bool sharp = false;
  };

  // Whether convert() may be asked about `ticks`; else it is time for tie().
  bool covers(std::uint64_t ticks) const noexcept { return ticks - base_ticks_ < span_; }

  // In microseconds.
  std::int64_t convert(std::uint64_t ticks) noexcept {
    const std::uint64_t part = base_fraction_ + (ticks - base_ticks_) * scale_;
    return forward(base_micros_ + static_cast<std::int64_t>(part >> kShift));
  }

  // Takes a reading of both clocks and says its time in microseconds.
  std::int64_t tie(const Reading& reading) noexcept;

 private:
  static constexpr int kShift = 40;  // 2^24 ticks of at most 1 us each stay within 64 bits
  static constexpr std::int64_t kIntervalNanos = 1'000'000;

  std::int64_t forward(std::int64_t micros) noexcept {
    if (micros > last_micros_) last_micros_ = micros;
    return last_micros_;
  }
  void measure(const Reading& reading) noexcept;

  std::uint64_t base_ticks_ = 0;
  std::uint64_t span_ = 0;   // ticks from the base that convert() covers; 0 = it may not be used
  std::uint64_t scale_ = 0;  // microseconds a tick, times 2^kShift
  std::uint64_t base_fraction_ = 0;  // of a microsecond, times 2^kShift
  std::int64_t base_micros_ = 0;
  std::int64_t last_micros_ = 0;  // said last
  std::uint64_t rate_ = 0;        // as scale_, of the last interval; 0 = none was measured
  Reading tied_;                  // the last sharp reading, where the next interval begins
};

// Whether this machine's counter keeps its pace: invariant by its own word, and what the kernel
// itself tells time by.
bool ticks_are_steady() noexcept;

// Time since the same point as CLOCK_MONOTONIC.
Micros tick_micros() noexcept;

extern constinit thread_local TickScale tick_scale;
// Where the scale does not cover the moment.
Micros tick_micros_anew() noexcept;

// tick_micros() in two steps without a call, for where that counts. Processors finish all that
// comes before a reading of the counter before they read it, and do nothing behind it meanwhile:
// who has something to wait for reads first, and works out the time at the end.
class TickMoment {
 public:
  // Of the counter; 0 where there is none.
  [[gnu::always_inline]] static std::uint64_t read() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
  }

  // `ticks` were just read by this thread.
  [[gnu::always_inline]] explicit TickMoment(std::uint64_t ticks) noexcept : ticks_(ticks) {
    if (!tick_scale.covers(ticks)) [[unlikely]]
      known_ = tick_micros_anew();
  }

  // Once, and before this thread reads the time again. Neither waits nor calls.
  [[gnu::always_inline]] Micros micros() const noexcept {
    if (known_ == kUnknown) [[likely]]
      return Micros{tick_scale.convert(ticks_)};
    return known_;
  }

 private:
  static constexpr Micros kUnknown{-1};  // no time since the start of the machine

  std::uint64_t ticks_;
  Micros known_ = kUnknown;
};

}  // namespace penstock::runtime
