#include "store/queue/embedded/queue.h"

#include <fmt/format.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/snapshot.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/rocksdb/records.h"
#include "store/queue/embedded/claim_batch.h"
#include "store/queue/embedded/queue_step.h"

namespace penstock::store::embedded {
namespace {

Result<std::string> as_text(std::string_view value) { return std::string(value); }

Result<ItemView> view_of(const Engine::View& view, const ItemType& type, const ItemId& id,
                         const ItemRecord& record, const rocksdb::ReadOptions& options = {}) {
  ItemView item{.type = type,
                .id = id,
                .state = record.state,
                .scheduled = record.scheduled,
                .retry_count = record.retry_count,
                .attempts = record.attempts,
                .last_error = record.last_error,
                .created = record.created,
                .claimed = record.claimed,
                .dispatched = record.dispatched,
                .batch_id = record.claim == 0 ? std::string{} : batch_name(record.claim),
                .audit = {},
                .due = record.due};
  for (std::uint32_t page = 0; page < record.pages; ++page) {
    const std::optional<std::string> entries =
        PENSTOCK_TRY(view.find(Family::queue_audit, audit_key(type, id, page),
                               "read the audit of an item", as_text, options));
    if (!entries) {
      return view.in_folder(
          Result<ItemView>(fail(ErrorKind::corrupt, "an item has lost a page of its audit")));
    }
    PENSTOCK_TRY(view.in_folder(decode_audit(*entries, item.audit)));
  }
  PENSTOCK_TRY(view.in_folder(decode_audit(record.trail, item.audit)));
  return item;
}

AuditAction settle_action(Outcome outcome, ItemState to) {
  if (outcome == Outcome::done) return AuditAction::dispatched;
  if (outcome == Outcome::give_back) return AuditAction::returned;
  return to == ItemState::dead ? AuditAction::dead : AuditAction::dispatch_failed;
}

void settle_one(QueueStep& step, const SettleRequest& request, const Settlement& each,
                ItemRecord record, Instant now) {
  const core::AfterOutcome after =
      core::after_outcome(each.outcome, record.retry_count, request.retries_max);
  step.leave_claim(request.type, record);
  record.retry_count = after.retry_count;
  if (each.outcome == Outcome::give_back) --record.attempts;  // it was not tried
  if (each.outcome == Outcome::failed || each.outcome == Outcome::refused) {
    record.last_error.assign(each.detail, 0, kDetailBytesMax);
  }
  if (after.state == ItemState::dispatched) record.dispatched = now;
  if (after.state == ItemState::ready) record.due = std::max(record.scheduled, each.not_before);
  step.move(request.type, each.id, record,
            {.to = after.state,
             .action = settle_action(each.outcome, after.state),
             .at = now,
             .batch_id = each.batch_id,
             .detail = each.detail});
}

// Neighbours are cheaper to write.
std::vector<std::size_t> in_order_of_ids(std::span<const Settlement> items) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const ItemId& { return items[i].id; });
  return order;
}

}  // namespace

std::vector<Result<Enqueued>> EmbeddedQueue::enqueue(std::span<const NewItem> items,
                                                     std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  // A store that cannot write still answers for items that it has; the commit refuses the rest.
  std::ignore = writer_.ready();
  return enqueue_.run(items, writer_.at(now));
}

Result<Claim> EmbeddedQueue::claim(const ClaimRequest& request, std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  return ClaimBatch(writer_, view, request, writer_.at(now)).run();
}

Result<std::vector<bool>> EmbeddedQueue::settle(const SettleRequest& request,
                                                std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);  // as AssignBatch
  QueueIndex::Type& type = writer_.queue.of(request.type);
  QueueStep step(writer_, view);
  std::vector<bool> moved(request.items.size());
  std::vector<ItemId> gone;
  for (const std::size_t i : in_order_of_ids(request.items)) {
    const Settlement& each = request.items[i];
    const auto held = type.claimed.find(each.id);
    // The same item twice counts once.
    if (held == type.claimed.end() || held->second.token != request.token ||
        (!gone.empty() && gone.back() == each.id)) {
      continue;
    }
    settle_one(step, request, each, held->second, writer_.at(now));
    gone.push_back(each.id);
    moved[i] = true;
  }
  if (gone.empty()) return moved;
  PENSTOCK_TRY(step.commit());
  writer_.queue.let_go(type, gone);
  return moved;
}

Result<ItemView> EmbeddedQueue::cancel(const ItemType& type, const ItemId& id,
                                       std::optional<Instant> now) {
  return change(
      type, id,
      {.from = ItemState::ready, .to = ItemState::cancelled, .action = AuditAction::cancelled},
      now);
}

Result<ItemView> EmbeddedQueue::redrive(const ItemType& type, const ItemId& id,
                                        std::optional<Instant> now) {
  return change(type, id,
                {.from = ItemState::dead, .to = ItemState::ready, .action = AuditAction::redriven},
                now);
}

Result<ItemView> EmbeddedQueue::change(const ItemType& type, const ItemId& id, const Change& change,
                                       std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  std::optional<ItemRecord> found = PENSTOCK_TRY(read_item(view, type, id));
  if (!found) {
    return fail(ErrorKind::not_found,
                fmt::format("there is no item '{}' of type '{}'", id.str(), type.str()));
  }
  ItemRecord& record = *found;
  const bool claimed = writer_.queue.of(type).claimed.contains(id);
  if (record.state != change.from || claimed) {
    return fail(ErrorKind::conflict,
                fmt::format("the item is {}",
                            core::item_state_name(claimed ? ItemState::claimed : record.state)));
  }
  const Instant moment = writer_.at(now);
  if (change.to == ItemState::ready) {
    record.retry_count = 0;
    record.due = moment;
  }
  QueueStep step(writer_, view);
  step.move(type, id, record, {.to = change.to, .action = change.action, .at = moment});
  PENSTOCK_TRY(step.commit());
  return view_of(view, type, id, record);
}

Result<std::optional<ItemView>> EmbeddedQueue::find(const ItemType& type, const ItemId& id) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  // Before the snapshot: what is remembered follows a commit.
  std::optional<ItemRecord> claimed = writer_.queue.claimed(type, id);
  rocksdb::ManagedSnapshot moment(&view.db());  // the record and the pages of its audit
  rocksdb::ReadOptions options;
  options.snapshot = moment.snapshot();
  std::optional<ItemRecord> record = PENSTOCK_TRY(read_item(view, type, id, options));
  if (!record) return std::nullopt;
  count_claim(*record, std::move(claimed));
  return view_of(view, type, id, *record, options);
}

Result<QueueSummary> EmbeddedQueue::summary(const ItemType& type) {
  const std::optional<QueueIndex::Glance> known = writer_.queue.glance(type);
  if (!known) return QueueSummary{};
  QueueSummary summary{.counts = known->state.counts, .oldest_due = std::nullopt};
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Cursor rows(view, Family::queue_due, known->due_from, behind(queue_prefix(type)));
  const bool any = PENSTOCK_TRY(rows.more());
  if (!any) return summary;
  const TimedKey first = PENSTOCK_TRY(view.in_folder(decode_timed_key(type, rows.key())));
  summary.oldest_due = first.at;
  return summary;
}

Result<std::vector<DeadItem>> EmbeddedQueue::dead(const ItemType& type,
                                                  const std::optional<DeadPlace>& after,
                                                  std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  const std::string prefix = dead_prefix(type);
  std::vector<DeadItem> items;
  Cursor rows(view, Family::queue_state,
              after ? embedded::after(dead_key(type, after->died, after->id.str())) : prefix,
              behind(prefix));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    if (items.size() == limit) break;
    TimedKey key = PENSTOCK_TRY(view.in_folder(decode_dead_key(type, rows.key())));
    const std::optional<ItemRecord> record = PENSTOCK_TRY(read_item(view, type, key.id));
    // It may have been redriven or forgotten since the walk began.
    if (!record || record->state != ItemState::dead || record->settled != key.at) continue;
    items.push_back({.id = std::move(key.id),
                     .died = key.at,
                     .scheduled = record->scheduled,
                     .attempts = record->attempts,
                     .last_error = record->last_error});
  }
  return items;
}

Result<std::size_t> EmbeddedQueue::forget(const ItemType& type, Instant before, std::size_t limit) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  QueueStep step(writer_, view);
  std::size_t gone = 0;
  Cursor rows(view, Family::queue_settled, writer_.queue.of(type).settled_from,
              timed_key(type, before));
  for (; PENSTOCK_TRY(rows.more()); rows.next(), ++gone) {
    if (gone == limit) break;
    const TimedKey key = PENSTOCK_TRY(view.in_folder(decode_timed_key(type, rows.key())));
    const SettledItem item = PENSTOCK_TRY(view.in_folder(decode_settled(rows.value())));
    step.forget(type, key, item);
    step.effect(type).settled_from = after(rows.key());
  }
  if (gone == 0) return 0;
  PENSTOCK_TRY(step.commit());
  return gone;
}

}  // namespace penstock::store::embedded
