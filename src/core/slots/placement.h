// Where in time an event goes: window arithmetic, the first window's share, jitter, and the search
// for the earliest window with room. Pure; the occupancy comes in as a function, the chance as a
// number, so that every backend decides alike.
//
// Time is cut into windows of `size`, aligned to the epoch. An event that asks for an instant
// inside a window gets only the rest of that window: of `max` places, floor(max * rest / size),
// compared with all that the window already holds. Every later window counts in full.
#pragma once

#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/rng.h"
#include "base/time.h"
#include "core/slots/full_runs.h"

namespace penstock::core {

// Number of the window that holds `instant`, which is not before the epoch.
constexpr WindowIndex window_of(Instant instant, Millis size) noexcept {
  return to_epoch_millis(instant) / size.count();
}

constexpr Instant window_start(WindowIndex window, Millis size) noexcept {
  return from_epoch_millis(window * size.count());
}

// How much of its window has passed at `instant`: [0, size).
constexpr Millis elapsed_in_window(Instant instant, Millis size) noexcept {
  return Millis{to_epoch_millis(instant) % size.count()};
}

// Places that the window of `requested` offers to an event asking for `requested`.
constexpr std::int64_t first_window_share(std::int64_t max_per_window, Millis size,
                                          Instant requested) noexcept {
  // 10^7 places * 86.4 * 10^6 ms stays below 10^15.
  return max_per_window * (size - elapsed_in_window(requested, size)).count() / size.count();
}

// `entropy` spread evenly over [low, high), low < high; the bias is below 10^-11 for a day.
constexpr Millis jitter(std::uint64_t entropy, Millis low, Millis high) noexcept {
  const auto span = static_cast<std::uint64_t>((high - low).count());
  return low + Millis{static_cast<std::int64_t>(scale64(entropy, span))};
}

struct PlacementQuery {
  Instant requested{};  // whole milliseconds, not before the epoch
  Millis max_delay{0};  // a window may be used while its start <= requested + max_delay
  std::int64_t max_per_window = 0;
  Millis window_size{0};
  std::uint64_t entropy = 0;  // decides the place inside the window
};

struct Placement {
  WindowIndex window = 0;
  Instant window_start{};
  Instant scheduled{};     // never before the requested instant
  std::int64_t depth = 0;  // windows passed over, the first one included
};

// `used(WindowIndex) -> int64` tells how many places of a window are taken, by anyone in the pool.
// `full` are windows known to hold at least `query.max_per_window`; the search learns new ones. The
// caller keeps it true: erase() when a place is given back, clear() when the maximum is raised
// (lowering it leaves every full window full).
// Nothing is charged here: the caller counts the place it accepts.
template <class Used>
std::optional<Placement> place(const PlacementQuery& query, FullRuns& full, Used&& used) {
  const Millis size = query.window_size;
  PENSTOCK_CHECK(size > Millis::zero());
  PENSTOCK_CHECK(query.max_delay >= Millis::zero());
  PENSTOCK_CHECK(query.requested >= kInstantMin);
  PENSTOCK_CHECK(query.requested == cut_to_millis(query.requested));

  const WindowIndex first = window_of(query.requested, size);
  WindowIndex window = full.first_gap(first);
  if (window == first) {
    const std::int64_t share = first_window_share(query.max_per_window, size, query.requested);
    const std::int64_t taken = used(first);
    if (taken < share) {
      const Instant start = window_start(first, size);
      const Millis elapsed = elapsed_in_window(query.requested, size);
      return Placement{first, start, start + jitter(query.entropy, elapsed, size), 0};
    }
    // Past its share it may still have room for an event that asks for an earlier instant.
    if (taken >= query.max_per_window) full.insert(first);
    window = full.first_gap(first + 1);
  }

  const WindowIndex last = window_of(query.requested + query.max_delay, size);
  const WindowIndex search_from = window;
  while (window <= last && used(window) >= query.max_per_window) {
    window = full.first_gap(window + 1);
  }
  // All of it is full, known before or seen just now: learn it as one run.
  if (window > search_from) full.insert(search_from, window);
  if (window > last) return std::nullopt;
  const Instant start = window_start(window, size);
  return Placement{window, start, start + jitter(query.entropy, Millis::zero(), size),
                   window - first};
}

}  // namespace penstock::core
