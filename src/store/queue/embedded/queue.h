// The ports of dispatch on the engine. Safe on any thread: what changes something takes the
// writer's mutex for one step, the rest only reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/queue/embedded/enqueue_batch.h"
#include "store/queue/embedded/queue_encoding.h"
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

  Result<ItemView> change(const ItemType& type, const ItemId& id, const Change& change,
                          std::optional<Instant> now);

  Writer& writer_;
  EnqueueBatch enqueue_;  // guarded by writer_.mutex
};

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
  Writer& writer_;
};

class EmbeddedLeases final : public LeaseStore {
 public:
  explicit EmbeddedLeases(Writer& writer) : writer_(writer) {}

  Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                       std::optional<Instant> now) override;
  Result<void> release(const ItemType& type, std::string_view node) override;
  Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) override;

  // Gives every lease back; tokens and pauses stay. For the start, holding the writer's mutex: this
  // process has the folder, so every former holder is dead, whatever the clock says of its term.
  Result<void> end_all();

 private:
  Result<LeaseRecord> read(const ItemType& type);
  Result<void> write(const ItemType& type, const LeaseRecord& lease);

  Writer& writer_;
};

}  // namespace penstock::store::embedded
