// Where a burst of events that all ask for one instant would land, without assigning anything.
// Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/slots/placement.h"
#include "core/slots/slot.h"

namespace penstock::core {

struct BurstQuery {
  Instant requested{};  // whole milliseconds, not before the epoch
  Millis max_delay{0};  // as in PlacementQuery
  std::int64_t max_per_window = 0;
  Millis window_size{0};
  std::int64_t count = 0;
};

struct Burst {
  std::int64_t placed = 0;  // fewer than asked for: the rest finds no room within max_delay
  std::int64_t windows_used = 0;
  // Chance decides the place inside a window: these are the earliest the first event can be
  // scheduled and the latest the last one can. Unset when nothing was placed.
  std::optional<Instant> first;
  std::optional<Instant> last;
};

// Follows the rule of place() window by window, told only the windows in use: runs of empty ones
// are passed in one step.
class BurstPlan {
 public:
  explicit BurstPlan(const BurstQuery& query) noexcept;

  // In ascending order; windows before the requested instant's are ignored.
  void add(const WindowUse& window) noexcept;
  // Nothing that add() could tell would change the outcome.
  bool is_complete() const noexcept { return left_ == 0 || next_ > last_; }
  Burst finish() noexcept;

 private:
  void fill_empty_until(WindowIndex end) noexcept;
  void take(WindowIndex from, std::int64_t windows, std::int64_t room_each) noexcept;
  std::int64_t room(WindowIndex window, std::int64_t used) const noexcept;

  const BurstQuery query_;
  const WindowIndex first_;
  const WindowIndex last_;
  WindowIndex next_;  // the first window not looked at yet
  std::int64_t left_;
  Burst burst_;
};

}  // namespace penstock::core
