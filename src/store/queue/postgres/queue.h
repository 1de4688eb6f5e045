// QueueStore on PostgreSQL: each call is one round trip, but for items with slots, where one more
// looks for items that are there. Thread-safe; calls run in parallel as far as the pool has
// connections.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/postgres/doubt.h"
#include "engine/postgres/pool.h"
#include "store/queue/ports.h"
#include "store/queue/postgres/claim_hints.h"
#include "store/queue/postgres/item_columns.h"
#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {

class Queue final : public QueueStore {
 public:
  // All must outlive this. `pool`: of connections whose commits wait for the disk. `deadline`
  // bounds each call.
  Queue(Pool& pool, Slots& slots, ClaimHints& hints, Millis deadline)
      : pool_(pool), slots_(slots), hints_(hints), deadline_(deadline) {}

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
  struct Answers;
  using Places = std::vector<std::size_t>;  // into the batch

  DatabaseResult<Answers> enqueue_once(std::span<const NewItem> items, const Places& firsts,
                                       std::optional<Instant> now, LookUp look_up,
                                       const runtime::Deadline& deadline);
  DatabaseResult<Answers> enqueue_plain(std::span<const NewItem> items, const Places& places,
                                        std::optional<Instant> now, LookUp look_up,
                                        const runtime::Deadline& deadline);
  DatabaseResult<Answers> enqueue_slots(std::span<const NewItem> items, const Places& places,
                                        std::optional<Instant> now, LookUp look_up,
                                        const runtime::Deadline& deadline);
  Result<ItemView> change(const SqlFile& sql, const ItemType& type, const ItemId& id,
                          std::optional<Instant> now);

  Pool& pool_;
  Slots& slots_;
  ClaimHints& hints_;
  const Millis deadline_;
  Doubt doubt_;
};

}  // namespace penstock::store::postgres
