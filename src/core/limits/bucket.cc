#include "core/limits/bucket.h"

namespace penstock::core {

std::int64_t recent_bucket_count(const LimitState& state, std::int64_t at) noexcept {
  const std::int64_t window = window_micros(state);
  if (window == 0) return 0;
  std::uint32_t previous = 0;
  std::uint32_t current = 0;
  roll_recent(state, at, previous, current);
  const auto rest = static_cast<std::uint64_t>(window - at % window);
  const Wide share =
      divide_up(static_cast<Wide>(previous) * rest, static_cast<std::uint64_t>(window));
  return current + static_cast<std::int64_t>(share);
}

void change_bucket(const Limit& limit, LimitState& state, std::int64_t at) noexcept {
  const auto old_unit = static_cast<std::uint64_t>(state.bucket.rate.micros);
  const auto new_unit = static_cast<std::uint64_t>(limit.refill.micros);
  const Wide units = bucket_units_at(state, at);
  // Apart, since the product of all of it with the new unit may need 140 bits.
  const Wide whole = units / old_unit;
  const Wide part = units % old_unit;
  const std::int64_t recent = recent_bucket_count(state, at);
  state.bucket.set_units(whole * new_unit + divide_up(part * new_unit, old_unit));
  state.bucket.rate = limit.refill;
  if (window_micros(state) != Micros{limit.window}.count()) {
    state.bucket.recent_previous = 0;
    state.bucket.recent_current = saturated(recent);
  } else {
    std::uint32_t previous = 0;
    std::uint32_t current = 0;
    roll_recent(state, at, previous, current);
    state.bucket.recent_previous = previous;
    state.bucket.recent_current = current;
  }
  state.window_seconds = static_cast<std::uint32_t>(limit.window.count());
  state.last = at;
}

}  // namespace penstock::core
