#include "store/slots/embedded/timelines.h"

#include <string>

#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {

Result<Timeline> Timelines::of(const Engine::View& view, const core::Slot& slot) {
  const auto [known, added] = known_.try_emplace({slot.config_name, slot.config_version});
  if (!added) return known->second;
  const std::string key = config_key(slot.config_name, slot.config_version);
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::slot_config), key, &value);
  Result<core::SlotConfig> config =
      status.ok() ? decode_config(key, value)
                  : Result<core::SlotConfig>(
                        std::unexpected(view.translate(status, "read the config of a slot")));
  if (!config) {
    known_.erase(known);
    return std::unexpected(std::move(config.error()));
  }
  known->second = {config->pool, config->window_size};
  return known->second;
}

}  // namespace penstock::store::embedded
