// LimitStore and LimitSweep on the table throttle_usage. Thread-safe; calls run in parallel as far
// as the pool has connections and their keys differ.
#pragma once

#include <string>

#include "engine/postgres/pool.h"
#include "store/limits/ports.h"

namespace penstock::store::postgres {

class Limits final : public LimitStore {
 public:
  // `pool`: of connections that need not wait for the disk; usage is soft state.
  Limits(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  void apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
             std::span<Result<LimitAnswer>> answers) override;
  Result<bool> reset(std::string_view key) override;
  Result<std::optional<KeyUse>> find(std::string_view key, std::optional<Instant> now) override;
  Result<std::vector<KeyUse>> list(std::string_view after, std::size_t limit,
                                   std::optional<Instant> now) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

class Sweep final : public LimitSweep {
 public:
  Sweep(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<Swept> sweep(std::size_t keys, std::optional<Instant> now) override;

 private:
  Pool& pool_;
  const Millis deadline_;
  std::string after_;  // of the one caller
};

}  // namespace penstock::store::postgres
