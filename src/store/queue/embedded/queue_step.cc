#include "store/queue/embedded/queue_step.h"

#include <utility>

#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

void lower(std::optional<std::string>& low, const std::string& key) {
  if (!low || key < *low) low = key;
}

}  // namespace

void QueueStep::add(const ItemType& type, const ItemId& id, ItemRecord& record,
                    std::string_view context) {
  timed_key(type, record.scheduled, id.str(), key_);
  changes_.put(Family::queue_context, key_, context);
  note(type, id, record,
       {.at = record.created,
        .action = AuditAction::enqueued,
        .from = std::nullopt,
        .to = ItemState::ready,
        .batch_id = {},
        .detail = {}});
  enter(type, id, record, record.created);
}

void QueueStep::move(const ItemType& type, const ItemId& id, ItemRecord& record, const Move& move) {
  const ItemState from = record.state;
  leave(type, id, record);
  record.state = move.to;
  note(type, id, record,
       {.at = move.at,
        .action = move.action,
        .from = from,
        .to = move.to,
        .batch_id = move.batch_id,
        .detail = move.detail});
  enter(type, id, record, move.at);
}

void QueueStep::claim(const ItemType& type, const ItemId& id, ItemRecord& record,
                      std::uint64_t number, FencingToken token, Instant at) {
  if (record.state == ItemState::ready && claim_lightly(record, number, token, at)) {
    count_out(type, ItemState::ready);
    ++effect(type).state.counts[static_cast<std::size_t>(ItemState::claimed)];
    timed_key(type, record.due, id.str(), key_);
    return changes_.remove_once(Family::queue_due, key_);
  }
  record.claimed = at;
  record.token = token;
  record.claim = number;
  ++record.attempts;
  const std::string batch_id = batch_name(number);
  move(type, id, record,
       {.to = ItemState::claimed, .action = AuditAction::claimed, .at = at, .batch_id = batch_id});
}

void QueueStep::leave(const ItemType& type, const ItemId& id, const ItemRecord& record) {
  count_out(type, record.state);
  if (record.state == ItemState::ready) {
    timed_key(type, record.due, id.str(), key_);
    changes_.remove_once(Family::queue_due, key_);
  } else if (core::is_settled(record.state)) {
    timed_key(type, record.settled, id.str(), key_);
    changes_.remove_once(Family::queue_settled, key_);
    if (record.state == ItemState::dead) {
      changes_.remove_once(Family::queue_state, dead_key(type, record.settled, id.str()));
    }
  }
}

void QueueStep::enter(const ItemType& type, const ItemId& id, ItemRecord& record, Instant at) {
  QueueIndex::Effect& after = effect(type);
  ++after.state.counts[static_cast<std::size_t>(record.state)];
  if (core::is_settled(record.state)) record.settled = at;
  encode_item(record, value_);
  item_key(type, id, key_);
  changes_.put(Family::queue_item, key_, value_);
  if (record.state == ItemState::ready) {
    timed_key(type, record.due, id.str(), key_);
    changes_.put(Family::queue_due, key_, value_);
    lower(after.due_low, key_);
  } else if (core::is_settled(record.state)) {
    timed_key(type, at, id.str(), key_);
    changes_.put(
        Family::queue_settled, key_,
        encode_settled(
            {.state = record.state, .scheduled = record.scheduled, .pages = record.pages}));
    lower(after.settled_low, key_);
    if (record.state == ItemState::dead) {
      changes_.put(Family::queue_state, dead_key(type, at, id.str()), encode_mark());
    }
  }
}

void QueueStep::note(const ItemType& type, const ItemId& id, ItemRecord& record,
                     const AuditNote& entry) {
  const std::size_t before = record.trail.size();
  put_audit(record.trail, entry);
  if (record.trail.size() <= kTrailBytesMax || before == 0) return;
  changes_.put(Family::queue_audit, audit_key(type, id, record.pages),
               std::string_view(record.trail).substr(0, before));
  ++record.pages;
  record.trail.erase(0, before);
}

void QueueStep::forget(const ItemType& type, const TimedKey& settled, const SettledItem& item) {
  count_out(type, item.state);
  changes_.remove(Family::queue_item, item_key(type, settled.id));
  changes_.remove_once(Family::queue_context, timed_key(type, item.scheduled, settled.id.str()));
  changes_.remove_once(Family::queue_settled, timed_key(type, settled.at, settled.id.str()));
  if (item.state == ItemState::dead) {
    changes_.remove_once(Family::queue_state, dead_key(type, settled.at, settled.id.str()));
  }
  for (std::uint32_t page = 0; page < item.pages; ++page) {
    changes_.remove_once(Family::queue_audit, audit_key(type, settled.id, page));
  }
}

void QueueStep::open_claim(const ItemType& type, std::uint64_t number, const ClaimRecord& claim) {
  changes_.put(Family::queue_state, claim_key(type, number), encode_claim(claim));
}

void QueueStep::leave_claim(const ItemType& type, const ItemRecord& record) {
  ++effect(type).left_claims[record.claim];
}

void QueueStep::count_out(const ItemType& type, ItemState state) {
  std::uint64_t& count = effect(type).state.counts[static_cast<std::size_t>(state)];
  if (count == 0) {
    miscounted_ = true;
  } else {
    --count;
  }
}

QueueIndex::Effect& QueueStep::effect(const ItemType& type) {
  if (last_type_ != nullptr && *last_type_ == type) return *last_effect_;
  const auto [found, added] = effects_.try_emplace(type);
  if (added) found->second.state = writer_.queue.of(type).state;
  last_type_ = &found->first;
  last_effect_ = &found->second;
  return *last_effect_;
}

Result<void> QueueStep::commit() {
  for (const auto& [type, after] : effects_) {
    changes_.put(Family::queue_state, type_state_key(type), encode_type_state(after.state));
    const QueueIndex::Type& before = writer_.queue.of(type);
    for (const auto& [claim, items] : after.left_claims) {
      if (before.claims.at(claim).left == items) {
        changes_.remove(Family::queue_state, claim_key(type, claim));
      }
    }
  }
  if (miscounted_) {
    return changes_.view().in_folder(
        Result<void>(fail(ErrorKind::corrupt, "there are more items than were counted")));
  }
  PENSTOCK_TRY(changes_.commit(writer_.engine));
  for (const auto& [type, after] : effects_) writer_.queue.apply(type, after);
  return {};
}

Result<std::optional<ItemRecord>> read_item(const Engine::View& view, const ItemType& type,
                                            const ItemId& id, const rocksdb::ReadOptions& options) {
  return view.find(Family::queue_item, item_key(type, id), "read an item", decode_item, options);
}

void count_claim(ItemRecord& record, std::optional<ItemRecord>&& claimed) {
  if (claimed && record.state == ItemState::ready && record.claim < claimed->claim) {
    record = std::move(*claimed);
  }
}

Result<std::optional<ItemRecord>> current_item(const Writer& writer, const Engine::View& view,
                                               const ItemType& type, const ItemId& id) {
  // Before the record: what is remembered follows a commit.
  std::optional<ItemRecord> claimed = writer.queue.claimed(type, id);
  std::optional<ItemRecord> record = PENSTOCK_TRY(read_item(view, type, id));
  if (record) count_claim(*record, std::move(claimed));
  return record;
}

}  // namespace penstock::store::embedded
