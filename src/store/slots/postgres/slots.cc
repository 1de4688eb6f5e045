#include "store/slots/postgres/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "store/slots/postgres/assign_batch.h"

namespace penstock::store::postgres {
namespace {

std::int64_t ceil_millis(Instant instant) {
  return std::chrono::ceil<Millis>(instant.time_since_epoch()).count();
}

Instant millis_of(Cell<Rows> cell) { return from_epoch_millis(cell.as<std::int64_t>()); }

// A row of (…, config name, version, requested, window start, scheduled, created, status, confirm
// by), the event being known or in the first column.
Slot slot_of(EventId event, Rows::Row row) {
  return {.event = std::move(event),
          .config_name = ConfigName::trusted(row[1]),
          .config_version = row[2],
          .requested = millis_of(row[3]),
          .window_start = millis_of(row[4]),
          .scheduled = millis_of(row[5]),
          .created = row[6],
          .status = row[7],
          .confirm_by = row[8].maybe<Instant>()};
}

Slot slot_with_event(Rows::Row row) { return slot_of(EventId::trusted(row[0]), row); }

}  // namespace

DatabaseResult<Slots::Placed> Slots::place(std::span<const SlotRequest> requests,
                                           const ItemColumns& items, std::optional<Instant> now,
                                           LookUp look_up, const runtime::Deadline& deadline) {
  auto lease = PENSTOCK_TRY(database_.pool().acquire(deadline));
  const std::uint64_t reconnects = database_.pool().reconnects();
  if (reconnects_.exchange(reconnects) != reconnects) hints_.forget();
  const AssignBatch batch(requests, now, hints_);
  Params params = batch.params(look_up);
  items.put_all(params);
  const Call calls[] = {{.sql = statement("assign_slots"), .params = std::move(params)},
                        call("flush")};
  auto answers = lease->run(calls, deadline);
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
  const runtime::Deadline deadline = database_.deadline();
  auto placed = doubt_.send(
      deadline, [&](LookUp look_up) { return place(requests, {}, now, look_up, deadline); },
      Database::again,
      [](const Placed& answer) {
        return std::ranges::all_of(answer.assignments,
                                   [](const auto& each) { return each && each->fresh; });
      });
  if (placed) return std::move(placed->assignments);
  return std::vector<Result<Assignment>>(requests.size(), std::unexpected(placed.error()));
}

Result<std::vector<std::optional<Slot>>> Slots::find(std::span<const EventId> events) {
  std::vector<std::optional<Slot>> slots(events.size());
  if (events.empty()) return slots;
  const Rows rows = PENSTOCK_TRY(database_.ask("find_slots", column(events, &EventId::str)));
  for (const auto row : rows) {
    const std::size_t place = row[0].as<std::size_t>() - 1;
    slots[place] = slot_of(events[place], row);
  }
  return slots;
}

Result<std::vector<WindowUse>> Slots::windows(const WindowRange& range) {
  if (range.limit == 0 || range.from >= range.to) return std::vector<WindowUse>{};
  const Rows rows = PENSTOCK_TRY(
      database_.ask("list_windows", range.pool, std::int64_t{range.window_size.count()},
                    ceil_millis(range.from), ceil_millis(range.to), range.limit));
  return rows.map([](auto row) { return WindowUse{.start = millis_of(row[0]), .used = row[1]}; });
}

Result<std::vector<Slot>> Slots::scan(const EventId& after, std::size_t limit) {
  if (limit == 0) return std::vector<Slot>{};
  const Rows rows = PENSTOCK_TRY(database_.ask("scan_slots", after, limit));
  return rows.map(slot_with_event);
}

namespace {

class Life final : public SlotLife {
 public:
  explicit Life(Database database) : database_(database) {}

  // It gives nothing back, so no time matters to it.
  Result<Slot> confirm(const EventId& event, std::optional<Instant> /*now*/) override {
    const Rows rows = PENSTOCK_TRY(database_.ask("confirm_slot", event));
    return moved(event, rows);
  }

  Result<Slot> release(const EventId& event, std::optional<Instant> now) override {
    const Call calls[] = {call("release_slot", event, now), call("flush")};
    const auto answers = PENSTOCK_TRY(database_.insist_all(calls));
    return moved(event, answers.front());
  }

  Result<std::size_t> expire(std::size_t limit, std::optional<Instant> now) override {
    const Rows expired = PENSTOCK_TRY(database_.ask("expire_slots", limit, now));
    const std::size_t count = expired[0][0];
    // Mostly none: then nothing needs to reach the disk.
    if (count > 0) PENSTOCK_TRY(database_.tell("flush"));
    return count;
  }

 private:
  // A row of (whether it was done, and the slot as slot_of reads it), or none.
  static Result<Slot> moved(const EventId& event, const Rows& rows) {
    const std::string_view name = core::shown_id(event);
    if (rows.empty()) {
      return fail(ErrorKind::not_found, fmt::format("event '{}' has no slot", name));
    }
    Slot slot = slot_of(event, rows[0]);
    if (rows[0][0]) return slot;
    const bool ended = slot.status == SlotStatus::released || slot.status == SlotStatus::expired;
    return fail(ErrorKind::conflict,
                ended ? fmt::format("the slot of event '{}' is {}", name, to_string(slot.status))
                      : fmt::format("the window of event '{}' has begun", name));
  }

  Database database_;
};

class Retention final : public SlotRetention {
 public:
  explicit Retention(Database database) : database_(database) {}

  Result<PruneReport> prune(const PruneOptions& options, const Sink& sink,
                            const std::function<bool()>& should_stop) override {
    PENSTOCK_CHECK(options.step_slots > 0);
    const auto stop = [&] { return should_stop && should_stop(); };
    // Steps until one finds less than it may take: then nothing old is left.
    const auto all = [&](std::size_t& total, auto step) -> Result<void> {
      for (std::size_t gone = options.step_slots; gone >= options.step_slots && !stop();) {
        gone = PENSTOCK_TRY(step());
        total += gone;
      }
      return {};
    };
    PruneReport report;
    PENSTOCK_TRY(all(report.slots, [&] { return slots_step(options, sink); }));
    PENSTOCK_TRY(all(report.windows, [&] { return windows_step(options); }));
    return report;
  }

 private:
  // How many went.
  Result<std::size_t> slots_step(const PruneOptions& options, const Sink& sink) {
    const runtime::Deadline deadline = database_.deadline();
    auto lease = PENSTOCK_TRY(database_.pool().acquire(deadline));
    Transaction<Connection> transaction(*lease, deadline);
    const auto taken = PENSTOCK_TRY(transaction.begin(
        {call("prune_slots", to_epoch_millis(options.before), options.step_slots)}));
    const Rows& rows = taken.back();
    Result<void> kept;
    if (sink && !rows.empty()) kept = sink(rows.map(slot_with_event));
    transaction.renew(database_.deadline());  // the sink took its own time
    PENSTOCK_TRY(std::move(kept));
    PENSTOCK_TRY(transaction.commit({}));
    return static_cast<std::size_t>(rows.size());
  }

  Result<std::size_t> windows_step(const PruneOptions& options) {
    const Rows rows = PENSTOCK_TRY(
        database_.ask("prune_windows", to_epoch_millis(options.before), options.step_slots));
    return rows[0][0].as<std::size_t>();
  }

  Database database_;
};

}  // namespace

std::unique_ptr<SlotLife> make_slot_life(Database database) {
  return std::make_unique<Life>(database);
}

std::unique_ptr<SlotRetention> make_retention(Database database) {
  return std::make_unique<Retention>(database);
}

}  // namespace penstock::store::postgres
