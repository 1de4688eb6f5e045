// The ports of slots on PostgreSQL. Thread-safe; calls run in parallel as far as the pool has
// connections.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/postgres/connection.h"
#include "engine/sql/doubt.h"
#include "store/queue/postgres/item_columns.h"
#include "store/slots/ports.h"
#include "store/slots/postgres/full_hints.h"

namespace penstock::store::postgres {

// Each batch is one round trip of two statements, the batch itself and the wait for the disk.
class Slots final : public SlotStore {
 public:
  explicit Slots(Database database) : database_(database) {}

  std::vector<Result<Assignment>> assign(std::span<const SlotRequest> requests,
                                         std::optional<Instant> now) override;
  Result<std::vector<std::optional<Slot>>> find(std::span<const EventId> events) override;
  Result<std::vector<WindowUse>> windows(const WindowRange& range) override;
  Result<std::vector<Slot>> scan(const EventId& after, std::size_t limit) override;

  struct Placed {
    std::vector<Result<Assignment>> assignments;  // in the order of the requests
    std::vector<KnownItem> known;                 // of the items
  };
  // One attempt at a batch; `items` are written in the transaction that inserts the events. When
  // the error is worth_repeating(), nothing was written.
  DatabaseResult<Placed> place(std::span<const SlotRequest> requests, const ItemColumns& items,
                               std::optional<Instant> now, LookUp look_up,
                               const runtime::Deadline& deadline);

 private:
  Database database_;
  FullHints hints_;
  Doubt doubt_;
  std::atomic<std::uint64_t> reconnects_{0};
};

// What gives places back takes the lock of the pool first, as batches do, and waits for the disk
// after it has let it go. Other nodes need no news of it: the database tells them with their next
// batch that what they remember of full windows is void.
std::unique_ptr<SlotLife> make_slot_life(Database database);
// Small transactions on one connection of the pool.
std::unique_ptr<SlotRetention> make_retention(Database database);
std::unique_ptr<SlotConfigStore> make_configs(Database database);

}  // namespace penstock::store::postgres
