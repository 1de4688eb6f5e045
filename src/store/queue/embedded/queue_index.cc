#include "store/queue/embedded/queue_index.h"

#include <ranges>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/rocksdb/records.h"

namespace penstock::store::embedded {
namespace {

Result<bool> is_due(const Engine::View& view, const ItemType& type, const ItemId& id, Instant due) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::queue_due),
                    timed_key(type, due, id.str()), &value);
  if (status.IsNotFound()) return false;
  PENSTOCK_TRY(view.check(status, "read an item"));
  return true;
}

// Whether the claim holds the item that `record` was read of; then that is as it was claimed.
Result<bool> is_held(const Engine::View& view, const ClaimKey& key, const ClaimRecord& claim,
                     const ItemId& id, ItemRecord& record) {
  if (record.state == ItemState::claimed) return record.claim == key.claim;
  if (record.state != ItemState::ready) return false;
  const bool due = PENSTOCK_TRY(is_due(view, key.type, id, record.due));
  return !due && claim_lightly(record, key.claim, claim.token, claim.at);
}

// Puts those items of a claim that it still holds into `type`, which knows all newer claims.
Result<void> read_claim(const Engine::View& view, const ClaimKey& key, ClaimRecord claim,
                        QueueIndex::Type& type) {
  const std::size_t count = claim.ids.size();
  std::vector<std::string> names(count);
  std::vector<rocksdb::Slice> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    item_key(key.type, claim.ids[i], names[i]);
    keys[i] = names[i];
  }
  LookUp items;
  items.run(view, Family::queue_item, keys, /*ascending=*/false);
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (items.is_missing(i)) continue;                  // settled and forgotten since
    if (type.claimed.contains(claim.ids[i])) continue;  // by a newer claim
    ItemRecord record = PENSTOCK_TRY(items.read(view, i, "read an item", decode_item));
    const bool held = PENSTOCK_TRY(is_held(view, key, claim, claim.ids[i], record));
    if (!held) continue;
    ++left;
    type.claimed.emplace(claim.ids[i], std::move(record));
  }
  if (left > 0) type.claims.emplace(key.claim, QueueIndex::OpenClaim{std::move(claim), left});
  return {};
}

}  // namespace

bool claim_lightly(ItemRecord& record, std::uint64_t number, FencingToken token, Instant at) {
  const std::size_t before = record.trail.size();
  const std::string batch_id = batch_name(number);
  put_audit(record.trail, {.at = at,
                           .action = AuditAction::claimed,
                           .from = ItemState::ready,
                           .to = ItemState::claimed,
                           .batch_id = batch_id,
                           .detail = {}});
  if (record.trail.size() > kTrailBytesMax) {
    record.trail.resize(before);
    return false;
  }
  record.state = ItemState::claimed;
  record.claimed = at;
  record.token = token;
  record.claim = number;
  ++record.attempts;
  return true;
}

Result<void> QueueIndex::load(const Engine::View& view) {
  Types fresh = PENSTOCK_TRY(read_types(view));
  PENSTOCK_TRY(read_claims(view, fresh));
  const std::lock_guard lock(mutex_);
  types_.swap(fresh);
  return {};
}

Result<QueueIndex::Types> QueueIndex::read_types(const Engine::View& view) {
  Types types;
  const std::string begin(1, kTypeStateTag);
  Cursor rows(view, Family::queue_state, begin, behind(begin));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    const ItemType name = PENSTOCK_TRY(view.in_folder(decode_type_state_key(rows.key())));
    const TypeState state = PENSTOCK_TRY(view.in_folder(decode_type_state(rows.value())));
    Type& type = types[name];
    type.state = state;
    type.due_from = queue_prefix(name);
    type.settled_from = queue_prefix(name);
  }
  return types;
}

Result<void> QueueIndex::read_claims(const Engine::View& view, Types& types) {
  std::vector<std::pair<ClaimKey, ClaimRecord>> claims;
  const std::string begin(1, kClaimTag);
  Cursor rows(view, Family::queue_state, begin, behind(begin));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    ClaimKey key = PENSTOCK_TRY(view.in_folder(decode_claim_key(rows.key())));
    ClaimRecord claim = PENSTOCK_TRY(view.in_folder(decode_claim(rows.value())));
    claims.emplace_back(std::move(key), std::move(claim));
  }
  // The newest first: it has what an older one names too.
  for (auto& [key, claim] : claims | std::views::reverse) {
    PENSTOCK_TRY(read_claim(view, key, std::move(claim), types[key.type]));
  }
  return {};
}

std::optional<QueueIndex::Glance> QueueIndex::glance(const ItemType& type) const {
  const std::lock_guard lock(mutex_);
  const auto found = types_.find(type);
  if (found == types_.end()) return std::nullopt;
  return Glance{.state = found->second.state, .due_from = found->second.due_from};
}

std::optional<ItemRecord> QueueIndex::claimed(const ItemType& type, const ItemId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = types_.find(type);
  if (found == types_.end()) return std::nullopt;
  const auto held = found->second.claimed.find(id);
  if (held == found->second.claimed.end()) return std::nullopt;
  return held->second;
}

void QueueIndex::hold(Type& type, std::uint64_t claim, ClaimRecord record,
                      std::vector<Held> items) {
  const std::lock_guard lock(mutex_);
  for (Held& each : items)
    type.claimed.insert_or_assign(std::move(each.id), std::move(each.record));
  type.claims.emplace(claim, OpenClaim{std::move(record), items.size()});
}

void QueueIndex::let_go(Type& type, const std::vector<ItemId>& ids) {
  const std::lock_guard lock(mutex_);
  for (const ItemId& id : ids) type.claimed.erase(id);
}

QueueIndex::Type& QueueIndex::of(const ItemType& type) {
  if (const auto found = types_.find(type); found != types_.end()) return found->second;
  const std::lock_guard lock(mutex_);
  Type& fresh = types_[type];
  fresh.due_from = queue_prefix(type);
  fresh.settled_from = queue_prefix(type);
  return fresh;
}

void QueueIndex::apply(const ItemType& name, const Effect& effect) {
  const auto follow = [](std::string& from, const std::optional<std::string>& begin,
                         const std::optional<std::string>& low) {
    if (begin) from = *begin;
    if (low && *low < from) from = *low;
  };
  Type& type = of(name);
  for (const auto& [claim, items] : effect.left_claims) {
    const auto open = type.claims.find(claim);
    PENSTOCK_CHECK(open != type.claims.end() && open->second.left >= items);
    open->second.left -= items;
    if (open->second.left == 0) type.claims.erase(open);
  }
  const std::lock_guard lock(mutex_);
  type.state = effect.state;
  follow(type.due_from, effect.due_from, effect.due_low);
  follow(type.settled_from, effect.settled_from, effect.settled_low);
}

}  // namespace penstock::store::embedded
