// AttemptStore on PostgreSQL: one statement for each call. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/quota/ports.h"

namespace penstock::store::postgres {

class AttemptRows final : public AttemptStore {
 public:
  // `pool` must outlive this. `deadline` bounds each call.
  AttemptRows(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<void> append(std::span<const Attempt> attempts) override;
  Result<std::vector<Attempt>> page(Instant from, Instant to, std::optional<AttemptMark> after,
                                    std::size_t limit) override;
  Result<std::size_t> forget_attempts(Instant before, std::size_t limit) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
