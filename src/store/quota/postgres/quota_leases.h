// QuotaLedger on gateway_quota, with what a cache has of it in gateway_lease. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/quota/cache_ports.h"

namespace penstock::store::postgres {

class QuotaLeases final : public QuotaLedger {
 public:
  // Pools of connections whose commits wait for the disk, which must outlive this: `pool` for
  // leases and charges, `epoch_pool` for what must not wait behind those. `deadline` bounds each
  // call.
  QuotaLeases(Pool& pool, Pool& epoch_pool, Millis deadline)
      : pool_(pool), epoch_pool_(epoch_pool), deadline_(deadline) {}

  Result<std::vector<QuotaLease>> lease(std::int64_t epoch,
                                        std::span<const QuotaLeaseRequest> requests,
                                        const LeaseSize& size, std::optional<Instant> now) override;
  Result<void> return_lease(std::int64_t epoch, const QuotaLease& lease) override;
  Result<void> flow_back(std::int64_t epoch, std::span<const CountSeen> counts) override;
  Result<std::vector<PastCache>> charge(std::span<const Charge> charges,
                                        std::optional<Instant> now) override;
  Result<void> give_back(std::span<const GiveBack> charges) override;
  Result<CacheEpoch> state() override;
  Result<CacheEpoch> beat(std::string_view node, bool sees_cache, Millis term) override;
  Result<CacheEpoch> close(std::int64_t epoch, std::string_view node) override;
  Result<CacheEpoch> open(std::int64_t after, std::string_view node, std::string_view token,
                          Millis term) override;
  Result<void> leave(std::string_view node) override;

 private:
  // Again when the server broke a circle of locks.
  Result<Rows> run(Pool& pool, const Call& call);

  Pool& pool_;
  Pool& epoch_pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
