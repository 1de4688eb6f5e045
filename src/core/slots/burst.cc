#include "core/slots/burst.h"

#include <algorithm>

#include "base/check.h"

namespace penstock::core {

BurstPlan::BurstPlan(const BurstQuery& query) noexcept
    : query_(query),
      first_(window_of(query.requested, query.window_size)),
      last_(window_of(query.requested + query.max_delay, query.window_size)),
      next_(first_),
      left_(query.count) {
  PENSTOCK_CHECK(query.window_size > Millis::zero());
  PENSTOCK_CHECK(query.max_per_window > 0);
  PENSTOCK_CHECK(query.count >= 0);
}

std::int64_t BurstPlan::room(WindowIndex window, std::int64_t used) const noexcept {
  const std::int64_t offered =
      window == first_
          ? first_window_share(query_.max_per_window, query_.window_size, query_.requested)
          : query_.max_per_window;
  return std::max<std::int64_t>(offered - used, 0);
}

void BurstPlan::add(const WindowUse& window) noexcept {
  const WindowIndex index = window_of(window.start, query_.window_size);
  if (index < next_) return;
  fill_empty_until(index);
  if (is_complete()) return;
  take(index, 1, room(index, window.used));
  next_ = index + 1;
}

Burst BurstPlan::finish() noexcept {
  fill_empty_until(last_ + 1);
  return burst_;
}

void BurstPlan::fill_empty_until(WindowIndex end) noexcept {
  end = std::min(end, last_ + 1);
  if (next_ == first_ && next_ < end && left_ > 0) {
    take(next_, 1, room(next_, 0));
    ++next_;
  }
  if (next_ < end && left_ > 0) take(next_, end - next_, query_.max_per_window);
  next_ = std::max(next_, end);
}

// `windows` windows from `from` on, each with the same room; as many of them as are needed.
void BurstPlan::take(WindowIndex from, std::int64_t windows, std::int64_t room_each) noexcept {
  if (room_each == 0 || left_ == 0) return;
  const std::int64_t needed = std::min((left_ + room_each - 1) / room_each, windows);
  // `needed` is at most what `left_` asks for, so the product stays below left_ + room_each.
  const std::int64_t taken = std::min(left_, needed * room_each);
  left_ -= taken;
  burst_.placed += taken;
  burst_.windows_used += needed;
  if (!burst_.first) {
    burst_.first = std::max(window_start(from, query_.window_size), query_.requested);
  }
  burst_.last = window_start(from + needed, query_.window_size) - Millis{1};
}

}  // namespace penstock::core
