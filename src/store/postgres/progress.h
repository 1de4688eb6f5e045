// RetentionClock on PostgreSQL: the progress that all nodes share, in one row, by the database's
// clock. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "engine/postgres/pool.h"
#include "store/retention_clock.h"

namespace penstock::store::postgres {

class ProgressRow final : public RetentionClock {
 public:
  // `pool` must outlive this. `deadline` bounds each call.
  ProgressRow(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<Instant> older_than(Millis keep) override;

 private:
  Pool& pool_;
  const Millis deadline_;
  std::mutex mutex_;                // held for a whole call
  std::optional<Micros> advanced_;  // by the monotonic clock of this node; guarded by mutex_
};

}  // namespace penstock::store::postgres
