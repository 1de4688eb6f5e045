// What is kept of a type beside its items: its settings, and which node dispatches it.
#include <fmt/format.h>

#include <mutex>
#include <string>
#include <utility>

#include "engine/rocksdb/records.h"
#include "store/queue/embedded/queue.h"

namespace penstock::store::embedded {
namespace {

Result<std::uint64_t> read_types_revision(const Engine::View& view) {
  const std::optional<std::uint64_t> revision = PENSTOCK_TRY(view.find(
      Family::meta, kItemTypeRevisionKey, "read the database", decode_item_type_revision));
  return revision.value_or(0);
}

}  // namespace

Result<ItemTypeRecord> EmbeddedItemTypes::put(const ItemType& type, std::int64_t expected,
                                              const core::ItemTypeSettings& settings,
                                              std::optional<Instant> now) {
  PENSTOCK_TRY(check_record(settings));
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const std::optional<ItemTypeRecord> before = PENSTOCK_TRY(find(type));
  const std::int64_t version = before ? before->version : 0;
  if (version != expected) {
    return fail(ErrorKind::conflict, fmt::format("item type '{}' is at version {}, not {}",
                                                 type.str(), version, expected));
  }
  ItemTypeRecord record{
      .type = type, .version = version + 1, .settings = settings, .changed = writer_.at(now)};
  const std::uint64_t revision = PENSTOCK_TRY(read_types_revision(view));
  Changes changes(view);
  changes.put(Family::item_type, item_type_key(type, record.version), encode_item_type(record));
  changes.put(Family::meta, kItemTypeRevisionKey, encode_item_type_revision(revision + 1));
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return record;
}

Result<std::optional<ItemTypeRecord>> EmbeddedItemTypes::find(const ItemType& type) {
  std::vector<ItemTypeRecord> newest = PENSTOCK_TRY(history(type, 1));
  if (newest.empty()) return std::nullopt;
  return std::move(newest.front());
}

Result<std::vector<ItemTypeRecord>> EmbeddedItemTypes::list() {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  return read_first_of_each(view, Family::item_type, decode_item_type,
                            [](const ItemTypeRecord& each) { return item_type_key(each.type); });
}

Result<std::vector<ItemTypeRecord>> EmbeddedItemTypes::history(const ItemType& type,
                                                               std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  return read_range(view, Family::item_type, item_type_key(type), behind(item_type_key(type)),
                    limit, decode_item_type);
}

Result<std::uint64_t> EmbeddedItemTypes::revision() {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  return read_types_revision(view);
}

Result<LeaseRecord> EmbeddedLeases::read(const ItemType& type) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::optional<LeaseRecord> lease =
      PENSTOCK_TRY(view.find(Family::queue_state, lease_key(type), "read a lease", decode_lease));
  return std::move(lease).value_or(LeaseRecord{});
}

Result<void> EmbeddedLeases::write(const ItemType& type, const LeaseRecord& lease) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Changes changes(view);
  changes.put(Family::queue_state, lease_key(type), encode_lease(lease));
  return changes.commit(writer_.engine);
}

Result<std::optional<Lease>> EmbeddedLeases::acquire(const LeaseRequest& request,
                                                     std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  PENSTOCK_TRY(writer_.ready());
  LeaseRecord held = PENSTOCK_TRY(read(request.type));
  const Instant moment = writer_.at(now);
  const bool fresh = held.node != request.node;
  if (fresh && !held.node.empty() && moment < held.until) return std::nullopt;
  if (fresh) {
    ++held.token;
  } else {
    held.paused_until = request.paused_until;
  }
  held.node = request.node;
  held.until = moment + request.term;
  PENSTOCK_TRY(write(request.type, held));
  return Lease{.token = held.token, .fresh = fresh, .paused_until = held.paused_until};
}

Result<void> EmbeddedLeases::release(const ItemType& type, std::string_view node) {
  const std::lock_guard lock(writer_.mutex);
  PENSTOCK_TRY(writer_.ready());
  LeaseRecord held = PENSTOCK_TRY(read(type));
  if (held.node.empty() || held.node != node) return {};
  held.node.clear();  // the token stays: the next one is larger
  return write(type, held);
}

Result<void> EmbeddedLeases::end_all() {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Changes changes(view);
  const std::string leases(1, kLeaseTag);
  Cursor rows(view, Family::queue_state, leases, behind(leases));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    LeaseRecord held = PENSTOCK_TRY(view.in_folder(decode_lease(rows.value())));
    if (held.node.empty()) continue;
    held.node.clear();
    changes.put(Family::queue_state, rows.key(), encode_lease(held));
  }
  return changes.commit(writer_.engine);
}

Result<LeaseView> EmbeddedLeases::view(const ItemType& type, std::optional<Instant> now) {
  LeaseRecord held = PENSTOCK_TRY(read(type));
  LeaseView view{.holder = std::nullopt, .paused_until = held.paused_until};
  if (!held.node.empty() && writer_.at(now) < held.until) {
    view.holder = std::move(held.node);
  }
  return view;
}

}  // namespace penstock::store::embedded
