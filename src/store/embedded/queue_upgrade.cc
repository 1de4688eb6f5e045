#include "store/embedded/queue_upgrade.h"

#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

#include <memory>
#include <string_view>

#include "store/embedded/errors.h"
#include "store/embedded/queue_encoding.h"

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kBatch = 4'096;  // items in one write

std::string_view text(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

Result<void> list_dead_items(const Database& database, const std::filesystem::path& dir) {
  const std::unique_ptr<rocksdb::Iterator> rows(
      database.db().NewIterator(rocksdb::ReadOptions(), database.family(Family::queue_settled)));
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
    const Result<SettledItem> item = decode_settled(text(rows->value()));
    if (!item) return std::unexpected(in_folder(item.error(), dir));
    if (item->state != ItemState::dead) continue;
    const std::string_view key = text(rows->key());
    const ItemType type = ItemType::trusted(std::string(key.substr(0, key.find('\0'))));
    const Result<TimedKey> settled = decode_timed_key(type, key);
    if (!settled) return std::unexpected(in_folder(settled.error(), dir));
    const rocksdb::Status added =
        batch.Put(database.family(Family::queue_state),
                  dead_key(type, settled->at, settled->id.str()), encode_dead());
    if (!added.ok()) return std::unexpected(translate(added, dir, "write"));
    if (batch.Count() < kBatch) continue;
    if (Result<void> written = write(); !written) return written;
  }
  if (!rows->status().ok()) {
    return std::unexpected(translate(rows->status(), dir, "read the database"));
  }
  return write();
}

}  // namespace penstock::store::embedded
