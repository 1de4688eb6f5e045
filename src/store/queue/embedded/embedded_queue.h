// QueueStore on the engine. Safe on any thread: what changes items takes the writer's mutex for one
// step, find() and summary() only read.
#pragma once

#include <rocksdb/options.h>

#include "engine/rocksdb/engine.h"
#include "store/embedded/writer.h"
#include "store/queue/embedded/enqueue_batch.h"
#include "store/queue/embedded/queue_encoding.h"
#include "store/queue/embedded/queue_step.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

class EmbeddedQueue final : public QueueStore {
 public:
  explicit EmbeddedQueue(Writer& writer) : writer_(writer), enqueue_(writer) {}

  std::vector<Result<Enqueued>> enqueue(std::span<const NewItem> items,
                                        std::optional<Instant> now) override;
  Result<Claim> claim(const ClaimRequest& request, std::optional<Instant> now) override;
  Result<std::vector<bool>> settle(const SettleRequest& request,
                                   std::optional<Instant> now) override;
  Result<ItemView> cancel(const ItemType& type, const ItemId& id,
                          std::optional<Instant> now) override;
  Result<ItemView> redrive(const ItemType& type, const ItemId& id,
                           std::optional<Instant> now) override;
  Result<std::optional<ItemView>> find(const ItemType& type, const ItemId& id) override;
  Result<QueueSummary> summary(const ItemType& type) override;
  Result<std::vector<DeadItem>> dead(const ItemType& type, const std::optional<DeadPlace>& after,
                                     std::size_t limit) override;
  Result<std::size_t> forget(const ItemType& type, Instant before, std::size_t limit) override;

 private:
  struct Change {
    ItemState from = ItemState::ready;
    ItemState to = ItemState::ready;
    AuditAction action = AuditAction::enqueued;
  };

  Instant at(std::optional<Instant> now) const { return now.value_or(writer_.clock.now()); }
  Result<ItemView> change(const ItemType& type, const ItemId& id, const Change& change,
                          std::optional<Instant> now);

  Writer& writer_;
  EnqueueBatch enqueue_;  // guarded by writer_.mutex
};

}  // namespace penstock::store::embedded
