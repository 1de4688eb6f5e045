#include "store/slots/embedded/known_configs.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "store/slots/embedded/encoding.h"

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

Result<Timeline> Timelines::of(const Engine::View& view, const core::Slot& slot) {
  if (const auto known = known_.find({slot.config_name, slot.config_version});
      known != known_.end()) {
    return known->second;
  }
  const std::string key = config_key(slot.config_name, slot.config_version);
  const std::optional<core::SlotConfig> config =
      PENSTOCK_TRY(view.find(Family::slot_config, key, "read the config of a slot",
                             [&](std::string_view value) { return decode_config(key, value); }));
  if (!config) {
    return view.in_folder(Result<Timeline>(fail(ErrorKind::corrupt, "a slot has lost its config")));
  }
  const Timeline timeline{config->pool, config->window_size};
  known_.emplace(std::pair(slot.config_name, slot.config_version), timeline);
  return timeline;
}

}  // namespace penstock::store::embedded
