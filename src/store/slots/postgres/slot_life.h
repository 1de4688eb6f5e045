// SlotLife on the rows of event_slot: one round trip for each call. What gives places back takes
// the lock of the pool first, as batches do, and waits for the disk after it has let it go. Other
// nodes need no news of it: the database tells them with their next batch that what they remember
// of full windows is void. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/slots/ports.h"

namespace penstock::store::postgres {

class Life final : public SlotLife {
 public:
  // `pool` must outlive this. `deadline` bounds each call.
  Life(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<core::Slot> confirm(const EventId& event, std::optional<Instant> now) override;
  Result<core::Slot> release(const EventId& event, std::optional<Instant> now) override;
  Result<std::size_t> expire(std::size_t limit, std::optional<Instant> now) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
