// When a failed item is tried again, and how items that want the same instant are spread. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/rng.h"
#include "base/time.h"

namespace penstock::core {

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
