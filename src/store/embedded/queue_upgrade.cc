#include "store/embedded/queue_upgrade.h"

#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

#include <functional>
#include <memory>
#include <string_view>

#include "store/embedded/encoding.h"
#include "store/embedded/errors.h"
#include "store/embedded/queue_encoding.h"

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kBatch = 4'096;  // items in one write

std::string_view text(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Shows each row of the family to `visit`, which adds to the batch what it wants written.
Result<void> upgrade(const Database& database, const std::filesystem::path& dir, Family family,
                     const std::function<Result<rocksdb::Status>(const rocksdb::Iterator&,
                                                                 rocksdb::WriteBatch&)>& visit) {
  const std::unique_ptr<rocksdb::Iterator> rows(
      database.db().NewIterator(rocksdb::ReadOptions(), database.family(family)));
  rocksdb::WriteBatch batch;
  const auto write = [&]() -> Result<void> {
    rocksdb::WriteOptions durably;
    durably.sync = true;
    const rocksdb::Status status = database.db().Write(durably, &batch);
    batch.Clear();
    if (!status.ok()) return std::unexpected(translate(status, dir, "write"));
    return {};
  };
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    const Result<rocksdb::Status> added = visit(*rows, batch);
    if (!added) return std::unexpected(in_folder(added.error(), dir));
    if (!added->ok()) return std::unexpected(translate(*added, dir, "bring the folder up to date"));
    if (batch.Count() < kBatch) continue;
    if (Result<void> written = write(); !written) return written;
  }
  if (!rows->status().ok()) {
    return std::unexpected(translate(rows->status(), dir, "read the database"));
  }
  return write();
}

// Of a row whose key is a timed key.
ItemType type_of(std::string_view key) {
  return ItemType::trusted(std::string(key.substr(0, key.find('\0'))));
}

}  // namespace

Result<void> list_dead_items(const Database& database, const std::filesystem::path& dir) {
  return upgrade(
      database, dir, Family::queue_settled,
      [&](const rocksdb::Iterator& row, rocksdb::WriteBatch& batch) -> Result<rocksdb::Status> {
        const Result<SettledItem> item = decode_settled(text(row.value()));
        if (!item) return std::unexpected(item.error());
        if (item->state != ItemState::dead) return rocksdb::Status::OK();
        const ItemType type = type_of(text(row.key()));
        const Result<TimedKey> settled = decode_timed_key(type, text(row.key()));
        if (!settled) return std::unexpected(settled.error());
        return batch.Put(database.family(Family::queue_state),
                         dead_key(type, settled->at, settled->id.str()), encode_dead());
      });
}

// A slot and its item were written in one step: that tells it from a public event of the same id.
// Such slots have no term.
Result<void> mark_item_slots(const Database& database, const std::filesystem::path& dir) {
  return upgrade(
      database, dir, Family::queue_due,
      [&](const rocksdb::Iterator& row, rocksdb::WriteBatch& batch) -> Result<rocksdb::Status> {
        const Result<ItemRecord> item = decode_item(text(row.value()));
        if (!item) return std::unexpected(item.error());
        const ItemType type = type_of(text(row.key()));
        const Result<TimedKey> due = decode_timed_key(type, text(row.key()));
        if (!due) return std::unexpected(due.error());
        const EventId event = EventId::trusted(type.str() + ":" + due->id.str());
        rocksdb::ColumnFamilyHandle* const slots = database.family(Family::event_slot);
        std::string value;
        rocksdb::Status status =
            database.db().Get(rocksdb::ReadOptions(), slots, event.str(), &value);
        if (status.IsNotFound()) return rocksdb::Status::OK();
        if (!status.ok()) return status;
        const Result<Slot> slot = decode_slot(event, value);
        if (!slot) return std::unexpected(slot.error());
        if (slot->created != item->created || slot->scheduled != item->scheduled) return status;
        status = batch.Delete(slots, event.str());
        if (!status.ok()) return status;
        return batch.Put(slots, core::item_event(event.str()).str(), value);
      });
}

}  // namespace penstock::store::embedded
