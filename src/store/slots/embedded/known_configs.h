// What is remembered of configs: the active versions, and where each version places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"
#include "engine/rocksdb/engine.h"

namespace penstock::store::embedded {

// The active version of every config: the writer decides by it, and any thread may read it while a
// write is under way. About 400 bytes a name; names are made by operators only.
class ActiveConfigs {
 public:
  using Snapshot = std::shared_ptr<const core::SlotConfig>;

  Snapshot find(const ConfigName& name) const;
  std::vector<core::SlotConfig> list(const ConfigName& after, std::size_t limit) const;

  // A config of `pool` other than `name` whose windows are not of `size`.
  Snapshot with_other_size(const PoolName& pool, const ConfigName& name, Millis size) const;

  void set(core::SlotConfig config);
  void replace(std::vector<core::SlotConfig> configs);

 private:
  mutable std::shared_mutex mutex_;
  std::map<ConfigName, Snapshot> configs_;  // guarded by mutex_
};

// What a slot's window is counted under.
struct Timeline {
  PoolName pool;
  Millis size{0};
  friend auto operator<=>(const Timeline&, const Timeline&) = default;
};

// Of versions of configs. They never change, so what was read once is kept. One thread at a time.
class Timelines {
 public:
  // Of the version that `slot` was given under.
  Result<Timeline> of(const Engine::View& view, const core::Slot& slot);

 private:
  std::map<std::pair<ConfigName, std::int64_t>, Timeline> known_;
};

}  // namespace penstock::store::embedded
