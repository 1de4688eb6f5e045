#include "store/queue/embedded/enqueue_batch.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "store/queue/embedded/queue_step.h"

namespace penstock::store::embedded {
namespace {

Enqueued repeated(const ItemRecord& record, const BodyDigest& digest) {
  const EnqueueResult result = record.state == ItemState::cancelled ? EnqueueResult::cancelled
                               : record.digest == digest            ? EnqueueResult::same
                                                                    : EnqueueResult::different;
  return {.result = result, .state = record.state, .scheduled = record.scheduled};
}

}  // namespace

std::vector<Result<Enqueued>> EnqueueBatch::run(std::span<const NewItem> items, Instant now,
                                                const Rider& rider) {
  if (items.empty()) return {};
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);  // as AssignBatch
  const auto all_fail = [&](const Error& error) {
    return std::vector<Result<Enqueued>>(items.size(), std::unexpected(error));
  };
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return all_fail(view.error());
  items_ = items;
  sort_items();
  look_up_.run(*view, Family::queue_item, keys_, /*ascending=*/true);
  look_slots_up(*view);
  std::vector<Result<Enqueued>> answers;
  answers.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) answers.push_back(decide(*view, i, now));
  const Result<void> written = write(*view, answers, rider);
  if (!slot_requests_.empty()) slots_.end(written.has_value());
  forget();
  return written ? std::move(answers) : all_fail(written.error());
}

// As AssignBatch: ascending keys are cheaper to look up and to write, and show duplicates.
void EnqueueBatch::sort_items() {
  if (names_.size() < items_.size()) names_.resize(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i) item_key(items_[i].type, items_[i].id, names_[i]);
  order_.resize(items_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, {}, [&](std::size_t i) -> const std::string& { return names_[i]; });
  entry_of_.resize(items_.size());
  entries_.clear();
  keys_.clear();
  for (const std::size_t item : order_) {
    if (keys_.empty() || keys_.back() != rocksdb::Slice(names_[item])) {
      entries_.push_back({});
      keys_.emplace_back(names_[item]);
    }
    entry_of_[item] = entries_.size() - 1;
  }
}

void EnqueueBatch::look_slots_up(const Engine::View& view) {
  slot_of_.assign(items_.size(), kNone);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].slot || !look_up_.is_missing(entry_of_[i])) continue;
    slot_of_[i] = slot_requests_.size();
    slot_requests_.push_back(*items_[i].slot);
  }
  if (!slot_requests_.empty()) slots_.begin(view, slot_requests_);
}

Result<Enqueued> EnqueueBatch::decide(const Engine::View& view, std::size_t item, Instant now) {
  const Entry& entry = entries_[entry_of_[item]];
  if (entry.created != kNone) return repeated(created_[entry.created].record, items_[item].digest);
  return look_up_.is_missing(entry_of_[item]) ? create(view, item, now) : known(view, item);
}

Result<Enqueued> EnqueueBatch::known(const Engine::View& view, std::size_t item) const {
  ItemRecord record =
      PENSTOCK_TRY(look_up_.read(view, entry_of_[item], "look the item up", decode_item));
  if (writer_.queue.of(items_[item].type).claimed.contains(items_[item].id)) {
    record.state = ItemState::claimed;
  }
  return repeated(record, items_[item].digest);
}

Result<Enqueued> EnqueueBatch::create(const Engine::View& view, std::size_t item, Instant now) {
  const NewItem& wanted = items_[item];
  Instant scheduled = wanted.due;
  if (slot_of_[item] != kNone) {
    const Result<Assignment>& placed = slots_.decide(view, slot_of_[item], now);
    if (!placed) return std::unexpected(placed.error());
    scheduled = placed->slot.scheduled;
  }
  entries_[entry_of_[item]].created = created_.size();
  ItemRecord record;
  record.scheduled = scheduled;
  record.due = scheduled;
  record.created = now;
  record.digest = wanted.digest;
  created_.push_back({.item = item, .record = std::move(record)});
  return Enqueued{
      .result = EnqueueResult::created, .state = ItemState::ready, .scheduled = scheduled};
}

Result<void> EnqueueBatch::write(const Engine::View& view,
                                 std::span<const Result<Enqueued>> answers, const Rider& rider) {
  if (created_.empty() && !rider) return {};  // then no slot was placed either
  QueueStep step(writer_, view);
  for (const Entry& entry : entries_) {
    if (entry.created == kNone) continue;
    Created& fresh = created_[entry.created];
    const NewItem& item = items_[fresh.item];
    step.add(item.type, item.id, fresh.record, item.context);
  }
  if (!slot_requests_.empty()) PENSTOCK_TRY(slots_.put(step.changes()));
  if (rider) PENSTOCK_TRY(rider(answers, step.changes()));
  return step.commit();
}

// Unpins what the look-up found, before the view goes, and gives large buffers back.
void EnqueueBatch::forget() {
  items_ = {};
  slot_requests_.clear();
  created_.clear();
  if (!look_up_.forget()) return;
  const auto give_back = [](auto&... buffers) {
    ((buffers.clear(), buffers.shrink_to_fit()), ...);
  };
  give_back(names_, order_, entry_of_, entries_, keys_, slot_requests_, slot_of_, created_);
}

}  // namespace penstock::store::embedded
