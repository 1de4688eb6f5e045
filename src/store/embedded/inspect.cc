#include "store/embedded/inspect.h"

#include <rocksdb/db.h>

#include <array>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "engine/rocksdb/database.h"
#include "engine/rocksdb/folder.h"
#include "engine/rocksdb/read_only.h"
#include "engine/rocksdb/records.h"
#include "store/queue/embedded/queue_encoding.h"

namespace penstock::store::embedded {
namespace {

Result<std::vector<ItemTypeRecord>> read_item_types(const ReadOnly& database,
                                                    const std::filesystem::path& dir) {
  std::vector<ItemTypeRecord> records;
  rocksdb::ColumnFamilyHandle* const family = database.family(Family::item_type);
  if (family == nullptr) return records;
  const std::unique_ptr<rocksdb::Iterator> rows(
      database.db().NewIterator(rocksdb::ReadOptions(), family));
  rows->SeekToFirst();
  while (rows->Valid()) {  // the newest version of each stands first
    ItemTypeRecord record = PENSTOCK_TRY(
        in_folder(decode_item_type(rows->key().ToStringView(), rows->value().ToStringView()), dir));
    records.push_back(std::move(record));
    rows->Seek(behind(item_type_key(records.back().type)));
  }
  PENSTOCK_TRY(check(rows->status(), dir, "read the database"));
  return records;
}

}  // namespace

Result<FolderView> inspect_folder(const std::filesystem::path& dir) {
  FolderView view;
  std::error_code ignored;
  view.exists = std::filesystem::is_directory(dir, ignored);
  if (!view.exists) return view;
  view.holder = folder_holder(dir);
  view.has_database = std::filesystem::exists(dir / "CURRENT", ignored);
  if (!view.has_database) return view;
  const std::array families = {Family::meta, Family::item_type};
  ReadOnly database = PENSTOCK_TRY(ReadOnly::open(dir, nullptr, families));
  view.schema = PENSTOCK_TRY(
      find_record(database.meta(), kSchemaKey, "read the schema version", decode_schema));
  if (!view.schema || *view.schema > kSchemaVersion) return view;  // its records are not ours
  view.item_types = PENSTOCK_TRY(read_item_types(database, dir));
  return view;
}

}  // namespace penstock::store::embedded
