// ItemTypeStore on the engine. Safe on any thread: put() takes the writer's mutex, the rest only
// reads.
#pragma once

#include "engine/rocksdb/engine.h"
#include "store/embedded/writer.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

class EmbeddedItemTypes final : public ItemTypeStore {
 public:
  explicit EmbeddedItemTypes(Writer& writer) : writer_(writer) {}

  Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                             const core::ItemTypeSettings& settings,
                             std::optional<Instant> now) override;
  Result<std::optional<ItemTypeRecord>> find(const ItemType& type) override;
  Result<std::vector<ItemTypeRecord>> list() override;
  Result<std::vector<ItemTypeRecord>> history(const ItemType& type, std::size_t limit) override;
  Result<std::uint64_t> revision() override;

 private:
  Result<void> write(const ItemTypeRecord& record);

  Writer& writer_;
};

}  // namespace penstock::store::embedded
