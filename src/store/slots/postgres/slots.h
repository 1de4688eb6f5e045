// SlotStore on PostgreSQL: each batch is one round trip of two statements, the batch itself and the
// wait for the disk. Thread-safe; calls run in parallel as far as the pool has connections.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "engine/postgres/pool.h"
#include "store/queue/postgres/item_columns.h"
#include "store/slots/ports.h"
#include "store/slots/postgres/assign_batch.h"
#include "store/slots/postgres/full_hints.h"

namespace penstock::store::postgres {

class Slots final : public SlotStore {
 public:
  // `pool` must outlive this. `deadline` bounds each call.
  Slots(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

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
  Result<Rows> read(const Call& call);

  Pool& pool_;
  const Millis deadline_;
  FullHints hints_;
  std::atomic<int> doubt_{0};  // batches to come that look for known events first
  std::atomic<std::uint64_t> reconnects_{0};
};

// A row of (…, config name, version, requested, window start, scheduled, created, status, confirm
// by), the event being known or in the first column.
Slot slot_of(EventId event, const Rows& rows, int row);

}  // namespace penstock::store::postgres
