// DeliveryStore on PostgreSQL: one statement for each call. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/quota/ports.h"

namespace penstock::store::postgres {

class Deliveries final : public DeliveryStore {
 public:
  // `pool` must outlive this: connections whose commits wait for the disk. `deadline` bounds each
  // call.
  Deliveries(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<void> note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) override;
  Result<std::vector<bool>> note_reports(std::span<const PartReport> reports,
                                         std::optional<Instant> now) override;
  Result<std::vector<core::DeliveryPart>> find_parts(const ItemId& message) override;
  Result<std::size_t> forget_parts(Instant before, std::size_t limit) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
