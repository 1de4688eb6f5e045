// SlotConfigStore on the engine. Safe on any thread: put() takes the writer's mutex, the rest only
// reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

class EmbeddedConfigs final : public SlotConfigStore {
 public:
  explicit EmbeddedConfigs(Writer& writer) : writer_(writer) {}

  Result<std::optional<core::SlotConfig>> find(const ConfigName& name) override;
  Result<SlotConfigChange> put(const core::SlotConfigDraft& draft,
                               std::optional<Instant> now) override;
  Result<std::vector<core::SlotConfig>> history(const ConfigName& name, std::size_t limit) override;
  Result<std::vector<core::SlotConfig>> list(const ConfigName& after, std::size_t limit) override;

 private:
  Result<void> check_window_size(const core::SlotConfig& config, Instant now);

  Writer& writer_;
};

}  // namespace penstock::store::embedded
