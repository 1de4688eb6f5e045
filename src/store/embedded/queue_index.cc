#include "store/embedded/queue_index.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/embedded/cursor.h"

namespace penstock::store::embedded {
namespace {

// Puts those items of a claim that it still holds into `type`.
Result<void> read_claim(const Engine::View& view, const ClaimKey& key, std::vector<ItemId> ids,
                        QueueIndex::Type& type) {
  std::vector<std::string> names(ids.size());
  std::vector<rocksdb::Slice> keys(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    item_key(key.type, ids[i], names[i]);
    keys[i] = names[i];
  }
  std::vector<rocksdb::PinnableSlice> values(ids.size());
  std::vector<rocksdb::Status> statuses(ids.size());
  view.db().MultiGet(rocksdb::ReadOptions(), view.family(Family::queue_item), keys.size(),
                     keys.data(), values.data(), statuses.data());
  QueueIndex::OpenClaim open;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;  // settled and forgotten since
    if (!statuses[i].ok()) return std::unexpected(view.translate(statuses[i], "read an item"));
    Result<ItemRecord> record = decode_item({values[i].data(), values[i].size()});
    if (!record) return std::unexpected(view.in_folder(std::move(record.error())));
    if (record->state != ItemState::claimed || record->claim != key.claim) continue;
    open.token = record->token;
    open.at = record->claimed.value_or(Instant{});
    open.ids.push_back(ids[i]);
    ++open.left;
    type.claimed.insert_or_assign(std::move(ids[i]), std::move(*record));
  }
  if (open.left > 0) type.claims.emplace(key.claim, std::move(open));
  return {};
}

}  // namespace

Result<void> QueueIndex::load(const Engine::View& view) {
  Result<Types> fresh = read_types(view);
  if (!fresh) return std::unexpected(std::move(fresh.error()));
  if (Result<void> read = read_claims(view, *fresh); !read) return read;
  const std::lock_guard lock(mutex_);
  types_.swap(*fresh);
  return {};
}

Result<QueueIndex::Types> QueueIndex::read_types(const Engine::View& view) {
  Types types;
  const std::string begin(1, kTypeStateTag);
  Cursor rows(view, Family::queue_state, begin, behind(begin));
  for (; rows.valid(); rows.next()) {
    const Result<ItemType> name = decode_type_state_key(rows.key());
    if (!name) return std::unexpected(view.in_folder(name.error()));
    const Result<TypeState> state = decode_type_state(rows.value());
    if (!state) return std::unexpected(view.in_folder(state.error()));
    Type& type = types[*name];
    type.state = *state;
    type.due_from = queue_prefix(*name);
    type.settled_from = queue_prefix(*name);
  }
  if (Result<void> status = rows.status(); !status) return std::unexpected(status.error());
  return types;
}

Result<void> QueueIndex::read_claims(const Engine::View& view, Types& types) {
  const std::string begin(1, kClaimTag);
  Cursor rows(view, Family::queue_state, begin, behind(begin));
  for (; rows.valid(); rows.next()) {
    const Result<ClaimKey> key = decode_claim_key(rows.key());
    if (!key) return std::unexpected(view.in_folder(key.error()));
    Result<std::vector<ItemId>> ids = decode_claim(rows.value());
    if (!ids) return std::unexpected(view.in_folder(std::move(ids.error())));
    if (Result<void> read = read_claim(view, *key, std::move(*ids), types[key->type]); !read) {
      return read;
    }
  }
  return rows.status();
}

std::optional<QueueIndex::Glance> QueueIndex::glance(const ItemType& type) const {
  const std::lock_guard lock(mutex_);
  const auto found = types_.find(type);
  if (found == types_.end()) return std::nullopt;
  return Glance{.state = found->second.state, .due_from = found->second.due_from};
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
