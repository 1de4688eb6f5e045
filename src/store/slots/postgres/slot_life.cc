#include "store/slots/postgres/slot_life.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "engine/postgres/calls.h"
#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {
namespace {

bool ended(SlotStatus status) {
  return status == SlotStatus::released || status == SlotStatus::expired;
}

// A row of (whether it was done, and the slot as slot_of reads it), or none.
Result<Slot> moved(const EventId& event, const Rows& rows) {
  if (rows.size() == 0) {
    return fail(ErrorKind::not_found, fmt::format("event '{}' has no slot", core::shown_id(event)));
  }
  Slot slot = slot_of(event, rows, 0);
  if (rows.boolean(0, 0)) return slot;
  return fail(ErrorKind::conflict,
              ended(slot.status)
                  ? fmt::format("the slot of event '{}' is {}", core::shown_id(event),
                                to_string(slot.status))
                  : fmt::format("the window of event '{}' has begun", core::shown_id(event)));
}

}  // namespace

// It gives nothing back, so no time matters to it.
Result<Slot> Life::confirm(const EventId& event, std::optional<Instant> /*now*/) {
  const auto rows =
      run_call(pool_, {.sql = statement("confirm_slot"), .params = Params().text(event.str())},
               runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return moved(event, *rows);
}

Result<Slot> Life::release(const EventId& event, std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  const Call calls[] = {
      {.sql = statement("release_slot"), .params = Params().text(event.str()).int8(epoch_us(now))},
      {.sql = statement("flush")}};
  for (int tried = 1;; ++tried) {
    auto answers = run_calls(pool_, calls, deadline);
    if (answers) return moved(event, answers->front());
    if (worth_repeating(answers.error()) && tried < kAttempts && !deadline.passed()) continue;
    return std::unexpected(std::move(answers.error().error));
  }
}

Result<std::size_t> Life::expire(std::size_t limit, std::optional<Instant> now) {
  const runtime::Deadline deadline(deadline_);
  const auto expired = run_call(pool_,
                                {.sql = statement("expire_slots"),
                                 .params = Params().int8(int8_of(limit)).int8(epoch_us(now))},
                                deadline);
  if (!expired) return std::unexpected(expired.error());
  const std::int64_t count = expired->int8(0, 0);
  if (count == 0) return 0;  // as mostly: then nothing needs to reach the disk
  const auto durable = run_call(pool_, {.sql = statement("flush")}, deadline);
  if (!durable) return std::unexpected(durable.error());
  return static_cast<std::size_t>(count);
}

}  // namespace penstock::store::postgres
