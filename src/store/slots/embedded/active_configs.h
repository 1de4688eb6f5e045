// The active version of every config, in memory: the writer decides by it, and any thread may read
// it while a write is under way. About 400 bytes a name; names are made by operators only.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "base/ids.h"
#include "core/slots/slot_config.h"

namespace penstock::store::embedded {

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

}  // namespace penstock::store::embedded
