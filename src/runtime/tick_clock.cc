#include "runtime/tick_clock.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace penstock::runtime {
namespace {

__extension__ using Wide = unsigned __int128;

// Two readings of the counter around the kernel's clock are this far apart when nothing came in
// between; an interrupt or another thread takes longer.
constexpr std::uint64_t kSharpTicks = 2'000;
constexpr int kSharpTries = 3;

std::int64_t monotonic_nanos() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

#if defined(__x86_64__)

std::uint64_t read_ticks() noexcept { return __rdtsc(); }

bool counter_is_invariant() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

#else

std::uint64_t read_ticks() noexcept { return 0; }
bool counter_is_invariant() noexcept { return false; }

#endif

// The kernel drops the counter as its clock source when processors disagree about it.
bool kernel_uses_counter() noexcept {
  std::FILE* const file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return false;
  char name[16] = {};
  const bool read = std::fgets(name, sizeof name, file) != nullptr;
  std::fclose(file);
  return read && std::strcmp(name, "tsc\n") == 0;
}

TickScale::Reading read_both() noexcept {
  TickScale::Reading reading;
  for (int i = 0; i < kSharpTries && !reading.sharp; ++i) {
    const std::uint64_t before = read_ticks();
    reading.nanos = monotonic_nanos();
    const std::uint64_t after = read_ticks();
    reading.ticks = before + (after - before) / 2;
    reading.sharp = after - before < kSharpTicks;
  }
  return reading;
}

// Near: the two differ by less than one in a thousand.
bool agree(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t apart = a > b ? a - b : b - a;
  return apart < std::min(a, b) / 1'000;
}

}  // namespace

Micros monotonic_micros() noexcept {
  // Not through std::chrono, whose nanoseconds would cost a signed division each time.
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Seconds{now.tv_sec} + Micros{static_cast<std::uint32_t>(now.tv_nsec) / 1'000U};
}

std::int64_t TickScale::tie(const Reading& reading) noexcept {
  const auto since = reading.nanos - tied_.nanos;
  if (!reading.sharp) {
    span_ = 0;
  } else if (tied_.nanos == 0) {
    tied_ = reading;
  } else if (since >= kIntervalNanos) {
    measure(reading);
    tied_ = reading;
  }
  return forward(reading.nanos / 1'000);
}

void TickScale::measure(const Reading& reading) noexcept {
  const std::uint64_t ticks = reading.ticks - tied_.ticks;
  const auto nanos = static_cast<Wide>(reading.nanos - tied_.nanos);
  const std::uint64_t before = rate_;
  span_ = 0;
  rate_ = 0;
  if (ticks == 0 || reading.ticks < tied_.ticks) return;
  const Wide rate = (nanos << kShift) / (static_cast<Wide>(ticks) * 1'000);
  if (rate == 0 || rate >> kShift != 0) return;
  rate_ = static_cast<std::uint64_t>(rate);
  if (!agree(rate_, before)) return;
  scale_ = rate_;
  base_ticks_ = reading.ticks;
  base_micros_ = reading.nanos / 1'000;
  base_fraction_ = (static_cast<std::uint64_t>(reading.nanos % 1'000) << kShift) / 1'000;
  const auto span = (static_cast<Wide>(kIntervalNanos / 1'000) << kShift) / rate_;
  span_ = static_cast<std::uint64_t>(std::min(span, static_cast<Wide>(1 << 24)));
}

bool ticks_are_steady() noexcept {
  static const bool steady = counter_is_invariant() && kernel_uses_counter();
  return steady;
}

constinit thread_local TickScale tick_scale;

Micros tick_micros_anew() noexcept {
  return ticks_are_steady() ? Micros{tick_scale.tie(read_both())} : monotonic_micros();
}

Micros tick_micros() noexcept { return TickMoment(TickMoment::read()).micros(); }

}  // namespace penstock::runtime
