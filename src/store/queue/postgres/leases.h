// LeaseStore on the table dispatch_lease: one row for each type, one statement for each call. The
// database's clock decides. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/queue/ports.h"

namespace penstock::store::postgres {

class Leases final : public LeaseStore {
 public:
  // `pool`: of connections whose commits wait for the disk: a token is never given twice.
  Leases(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                       std::optional<Instant> now) override;
  Result<void> release(const ItemType& type, std::string_view node) override;
  Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
