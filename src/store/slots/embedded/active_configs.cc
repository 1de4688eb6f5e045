#include "store/slots/embedded/active_configs.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace penstock::store::embedded {

ActiveConfigs::Snapshot ActiveConfigs::find(const ConfigName& name) const {
  const std::shared_lock lock(mutex_);
  const auto found = configs_.find(name);
  return found == configs_.end() ? nullptr : found->second;
}

std::vector<core::SlotConfig> ActiveConfigs::list(const ConfigName& after,
                                                  std::size_t limit) const {
  const std::shared_lock lock(mutex_);
  std::vector<core::SlotConfig> configs;
  for (auto at = configs_.upper_bound(after); at != configs_.end() && configs.size() < limit;
       ++at) {
    configs.push_back(*at->second);
  }
  return configs;
}

ActiveConfigs::Snapshot ActiveConfigs::with_other_size(const PoolName& pool, const ConfigName& name,
                                                       Millis size) const {
  const std::shared_lock lock(mutex_);
  const auto found = std::ranges::find_if(configs_, [&](const auto& entry) {
    const core::SlotConfig& config = *entry.second;
    return config.pool == pool && config.name != name && config.window_size != size;
  });
  return found == configs_.end() ? nullptr : found->second;
}

void ActiveConfigs::set(core::SlotConfig config) {
  auto snapshot = std::make_shared<const core::SlotConfig>(std::move(config));
  const std::lock_guard lock(mutex_);
  configs_.insert_or_assign(snapshot->name, snapshot);
}

void ActiveConfigs::replace(std::vector<core::SlotConfig> configs) {
  std::map<ConfigName, Snapshot> fresh;
  for (core::SlotConfig& config : configs) {
    auto snapshot = std::make_shared<const core::SlotConfig>(std::move(config));
    fresh.insert_or_assign(snapshot->name, snapshot);
  }
  const std::lock_guard lock(mutex_);
  configs_.swap(fresh);
}

}  // namespace penstock::store::embedded
