#include "store/slots/postgres/slots.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "engine/postgres/calls.h"
#include "store/slots/postgres/assign_batch.h"

namespace penstock::store::postgres {
namespace {

// Looking for known events costs a fifth of a batch, a batch in vain costs a whole one: after one
// that held known events, so many look first.
constexpr int kDoubtBatches = 50;

std::int64_t ceil_millis(Instant instant) {
  return std::chrono::ceil<Millis>(instant.time_since_epoch()).count();
}

}  // namespace

Slot slot_of(EventId event, const Rows& rows, int row) {
  return {.event = std::move(event),
          .config_name = ConfigName::trusted(std::string(rows.text(row, 1))),
          .config_version = rows.int8(row, 2),
          .requested = from_epoch_millis(rows.int8(row, 3)),
          .window_start = from_epoch_millis(rows.int8(row, 4)),
          .scheduled = from_epoch_millis(rows.int8(row, 5)),
          .created = Instant{Micros{rows.int8(row, 6)}},
          .status = static_cast<SlotStatus>(rows.int2(row, 7)),
          .confirm_by =
              rows.null(row, 8) ? std::nullopt : std::optional(Instant{Micros{rows.int8(row, 8)}})};
}

DatabaseResult<Slots::Placed> Slots::place(std::span<const SlotRequest> requests,
                                           const ItemColumns& items, std::optional<Instant> now,
                                           LookUp look_up, const runtime::Deadline& deadline) {
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error()));
  const std::uint64_t reconnects = pool_.reconnects();
  if (reconnects_.exchange(reconnects) != reconnects) hints_.forget();
  const AssignBatch batch(requests, now, hints_);
  Params params = batch.params(look_up);
  items.put_all(params);
  const Call calls[] = {{.sql = statement("assign_slots"), .params = std::move(params)},
                        {.sql = statement("flush")}};
  auto answers = (*lease)->run(calls, deadline);
  if (!answers) {
    // One of them may be what failed.
    if (worth_repeating(answers.error())) hints_.forget();
    return std::unexpected(std::move(answers.error()));
  }
  const Rows& rows = answers->front();
  return Placed{.assignments = batch.read(rows, hints_),
                .known = known_items(rows, AssignBatch::kColumns)};
}

std::vector<Result<Assignment>> Slots::assign(std::span<const SlotRequest> requests,
                                              std::optional<Instant> now) {
  if (requests.empty()) return {};
  const runtime::Deadline deadline(deadline_);
  const bool doubtful = doubt_.load(std::memory_order_relaxed) > 0;
  for (int tried = 1;; ++tried) {
    const LookUp first = doubtful ? LookUp::before : LookUp::trust;
    auto placed = place(requests, {}, now, tried == 1 ? first : LookUp::locked, deadline);
    if (placed) {
      const bool all_new =
          tried == 1 && std::ranges::all_of(placed->assignments, [](const auto& answer) {
            return answer && answer->fresh;
          });
      if (!all_new) {
        doubt_.store(kDoubtBatches, std::memory_order_relaxed);
      } else if (doubtful) {
        doubt_.fetch_sub(1, std::memory_order_relaxed);
      }
      return std::move(placed->assignments);
    }
    if (worth_repeating(placed.error()) && tried < kAttempts && !deadline.passed()) continue;
    Error error = std::move(placed.error().error);
    // Ours to retry, not a fault of the request.
    if (error.kind == ErrorKind::conflict) error.kind = ErrorKind::unavailable;
    return std::vector<Result<Assignment>>(requests.size(), std::unexpected(error));
  }
}

Result<Rows> Slots::read(const Call& call) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  auto rows = (*lease)->run(call, deadline);
  if (!rows) return std::unexpected(std::move(rows.error().error));
  return std::move(*rows);
}

Result<std::vector<std::optional<Slot>>> Slots::find(std::span<const EventId> events) {
  std::vector<std::optional<Slot>> slots(events.size());
  if (events.empty()) return slots;
  std::vector<std::string_view> ids;
  ids.reserve(events.size());
  for (const EventId& event : events) ids.emplace_back(event.str());
  const auto rows = read({.sql = statement("find_slots"), .params = Params().texts(ids)});
  if (!rows) return std::unexpected(rows.error());
  for (int row = 0; row < rows->size(); ++row) {
    const auto place = static_cast<std::size_t>(rows->int4(row, 0)) - 1;
    slots[place] = slot_of(events[place], *rows, row);
  }
  return slots;
}

Result<std::vector<WindowUse>> Slots::windows(const WindowRange& range) {
  std::vector<WindowUse> uses;
  if (range.limit == 0 || range.from >= range.to) return uses;
  const auto rows = read({.sql = statement("list_windows"),
                          .params = Params()
                                        .text(range.pool.str())
                                        .int8(range.window_size.count())
                                        .int8(ceil_millis(range.from))
                                        .int8(ceil_millis(range.to))
                                        .int8(int8_of(range.limit))});
  if (!rows) return std::unexpected(rows.error());
  uses.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    uses.push_back({.start = from_epoch_millis(rows->int8(row, 0)), .used = rows->int4(row, 1)});
  }
  return uses;
}

Result<std::vector<Slot>> Slots::scan(const EventId& after, std::size_t limit) {
  std::vector<Slot> slots;
  if (limit == 0) return slots;
  const auto rows = read(
      {.sql = statement("scan_slots"), .params = Params().text(after.str()).int8(int8_of(limit))});
  if (!rows) return std::unexpected(rows.error());
  slots.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    slots.push_back(slot_of(EventId::trusted(std::string(rows->text(row, 0))), *rows, row));
  }
  return slots;
}

}  // namespace penstock::store::postgres
