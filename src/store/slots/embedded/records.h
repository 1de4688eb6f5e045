// Walks over the records of the database: windows and config versions. Stateless but for the view.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot_config.h"
#include "engine/rocksdb/records.h"
#include "store/slots/embedded/window_counters.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

// Used windows of a pool and size with start in [from, to), ascending; `visit` ends the walk with
// false.
Result<void> each_window(const Engine::View& view, const PoolName& pool, Millis size, Instant from,
                         Instant to, const std::function<bool(const WindowUse&)>& visit);

// A window of `pool` that is used, has not ended at `now`, and is not of `size`: what forbids the
// pool to change to `size`.
struct SizedWindow {
  Millis size{0};
  Instant start{};
};
Result<std::optional<SizedWindow>> open_window_of_other_size(const Engine::View& view,
                                                             const PoolName& pool, Millis size,
                                                             Instant now);

// Versions of `name`, newest first, `active` set on the newest.
Result<std::vector<core::SlotConfig>> config_versions(const Engine::View& view,
                                                      const ConfigName& name, std::size_t limit);

// The newest version of every name.
Result<std::vector<core::SlotConfig>> newest_configs(const Engine::View& view);

// RELEASED or EXPIRED: its event may be assigned anew.
inline bool is_over(const Slot& slot) noexcept {
  return slot.status == SlotStatus::released || slot.status == SlotStatus::expired;
}

// Writes every count that changed; a window that holds nothing any more goes.
void put_windows(const WindowCounters& windows, Changes& changes);

// Feeds the counters' cache.
class WindowRecords final : public WindowSource {
 public:
  explicit WindowRecords(const Engine::View& view) : view_(view) {}
  Result<void> each(const PoolName& pool, Millis size, core::WindowIndex begin,
                    core::WindowIndex end, const Visit& visit) override;

 private:
  const Engine::View& view_;
};

}  // namespace penstock::store::embedded
