// SlotRetention on PostgreSQL: small transactions on one connection of the pool. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/slots/ports.h"

namespace penstock::store::postgres {

class Retention final : public SlotRetention {
 public:
  // `pool` must outlive this. `deadline` bounds each step.
  Retention(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<PruneReport> prune(const PruneOptions& options, const Sink& sink,
                            const std::function<bool()>& should_stop) override;

 private:
  // How many went; fewer than the step = nothing old is left.
  Result<std::size_t> slots_step(const PruneOptions& options, const Sink& sink);
  Result<std::size_t> windows_step(const PruneOptions& options);

  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
