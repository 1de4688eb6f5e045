// Instants and durations in strong types. An Instant counts microseconds since 1970-01-01T00:00Z on
// Penstock's own clock tag, so that no other clock's time_point can be mixed in by accident.
// `Clock` is the only source of now; the system one lives in runtime/, tests use SimulatedClock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock {

using Micros = std::chrono::duration<std::int64_t, std::micro>;
using Millis = std::chrono::duration<std::int64_t, std::milli>;
using Seconds = std::chrono::duration<std::int64_t>;

struct PenstockClock {
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<PenstockClock>;
  static constexpr bool is_steady = false;
};

using Instant = PenstockClock::time_point;

// The years 1970-2261 that the API accepts: [kInstantMin, kInstantEnd).
inline constexpr Instant kInstantMin{Micros{0}};
inline constexpr Instant kInstantEnd{Micros{9'214'646'400'000'000}};  // 2262-01-01T00:00:00Z

constexpr Instant from_epoch_millis(std::int64_t millis) noexcept {
  return Instant{Millis{millis}};
}

// Cut (not rounded) to whole milliseconds, the resolution of the wire and of slots.
constexpr std::int64_t to_epoch_millis(Instant instant) noexcept {
  return std::chrono::floor<Millis>(instant.time_since_epoch()).count();
}

constexpr Instant cut_to_millis(Instant instant) noexcept {
  return from_epoch_millis(to_epoch_millis(instant));
}

// Tells the time. Thread-safe.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  virtual Instant now() const noexcept = 0;
};

// A clock that stands still until it is told to move. Thread-safe.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Instant start) noexcept : micros_(start.time_since_epoch().count()) {}

  Instant now() const noexcept override {
    return Instant{Micros{micros_.load(std::memory_order_relaxed)}};
  }
  void set(Instant instant) noexcept {
    micros_.store(instant.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void advance(Micros by) noexcept { micros_.fetch_add(by.count(), std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> micros_;
};

}  // namespace penstock
