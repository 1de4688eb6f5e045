#include "store/queue/embedded/embedded_item_types.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <mutex>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "store/queue/embedded/item_type_encoding.h"

namespace penstock::store::embedded {
namespace {

const rocksdb::Slice kRevisionSlice(kItemTypeRevisionKey.data(), kItemTypeRevisionKey.size());

Result<std::uint64_t> read_types_revision(const Engine::View& view) {
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::meta), kRevisionSlice, &value);
  if (status.IsNotFound()) return 0;
  if (!status.ok()) return std::unexpected(view.translate(status, "read the database"));
  Result<std::uint64_t> revision = decode_item_type_revision(value);
  if (!revision) return std::unexpected(view.in_folder(std::move(revision.error())));
  return revision;
}

}  // namespace

Result<ItemTypeRecord> EmbeddedItemTypes::put(const ItemType& type, std::int64_t expected,
                                              const core::ItemTypeSettings& settings,
                                              std::optional<Instant> now) {
  if (Result<void> valid = core::check_item_type(settings); !valid) {
    return std::unexpected(std::move(valid.error()));
  }
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<std::optional<ItemTypeRecord>> before = find(type);
  if (!before) return std::unexpected(before.error());
  const std::int64_t version = *before ? (*before)->version : 0;
  if (version != expected) {
    return fail(ErrorKind::conflict, fmt::format("item type '{}' is at version {}, not {}",
                                                 type.str(), version, expected));
  }
  ItemTypeRecord record{.type = type,
                        .version = version + 1,
                        .settings = settings,
                        .changed = now.value_or(writer_.clock.now())};
  if (Result<void> written = write(record); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return record;
}

Result<void> EmbeddedItemTypes::write(const ItemTypeRecord& record) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Result<std::uint64_t> revision = read_types_revision(*view);
  if (!revision) return std::unexpected(revision.error());
  rocksdb::WriteBatch batch;
  rocksdb::Status status =
      batch.Put(view->family(Family::item_type), item_type_key(record.type, record.version),
                encode_item_type(record));
  if (status.ok()) {
    status = batch.Put(view->family(Family::meta), kRevisionSlice,
                       encode_item_type_revision(*revision + 1));
  }
  if (!status.ok()) return std::unexpected(view->translate(status, "write"));
  return writer_.engine.commit(batch);
}

Result<std::optional<ItemTypeRecord>> EmbeddedItemTypes::find(const ItemType& type) {
  Result<std::vector<ItemTypeRecord>> newest = history(type, 1);
  if (!newest) return std::unexpected(std::move(newest.error()));
  if (newest->empty()) return std::nullopt;
  return std::move(newest->front());
}

Result<std::vector<ItemTypeRecord>> EmbeddedItemTypes::list() {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::vector<ItemTypeRecord> records;
  Cursor rows(*view, Family::item_type, "", "");
  while (rows.valid()) {
    Result<ItemTypeRecord> record = decode_item_type(rows.key(), rows.value());
    if (!record) return std::unexpected(view->in_folder(std::move(record.error())));
    records.push_back(std::move(*record));
    rows.seek(behind(item_type_key(records.back().type)));
  }
  if (Result<void> status = rows.status(); !status) return std::unexpected(status.error());
  return records;
}

Result<std::vector<ItemTypeRecord>> EmbeddedItemTypes::history(const ItemType& type,
                                                               std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::vector<ItemTypeRecord> versions;
  Cursor rows(*view, Family::item_type, item_type_key(type), behind(item_type_key(type)));
  for (; rows.valid() && versions.size() < limit; rows.next()) {
    Result<ItemTypeRecord> record = decode_item_type(rows.key(), rows.value());
    if (!record) return std::unexpected(view->in_folder(std::move(record.error())));
    versions.push_back(std::move(*record));
  }
  if (!rows.valid()) {
    if (Result<void> status = rows.status(); !status) return std::unexpected(status.error());
  }
  return versions;
}

Result<std::uint64_t> EmbeddedItemTypes::revision() {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  return read_types_revision(*view);
}

}  // namespace penstock::store::embedded
