// SlotConfigStore on PostgreSQL. Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "engine/postgres/pool.h"
#include "store/slots/ports.h"

namespace penstock::store::postgres {

class Configs final : public SlotConfigStore {
 public:
  // `pool` must outlive this. `deadline` bounds each call.
  Configs(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<std::optional<core::SlotConfig>> find(const ConfigName& name) override;
  Result<SlotConfigChange> put(const core::SlotConfigDraft& draft,
                               std::optional<Instant> now) override;
  Result<std::vector<core::SlotConfig>> history(const ConfigName& name, std::size_t limit) override;
  Result<std::vector<core::SlotConfig>> list(const ConfigName& after, std::size_t limit) override;

 private:
  DatabaseResult<Rows> run(const Call& call);
  Result<std::vector<core::SlotConfig>> read(const Call& call);

  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
