// ItemTypeStore on the table dispatch_settings: every version is a row. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/queue/ports.h"

namespace penstock::store::postgres {

class ItemTypes final : public ItemTypeStore {
 public:
  // `pool`: of connections whose commits wait for the disk.
  ItemTypes(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                             const core::ItemTypeSettings& settings,
                             std::optional<Instant> now) override;
  Result<std::optional<ItemTypeRecord>> find(const ItemType& type) override;
  Result<std::vector<ItemTypeRecord>> list() override;
  Result<std::vector<ItemTypeRecord>> history(const ItemType& type, std::size_t limit) override;
  Result<std::uint64_t> revision() override;

 private:
  Result<std::vector<ItemTypeRecord>> read(const Call& call);

  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
