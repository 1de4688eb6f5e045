#include "store/embedded/inspect.h"

#include <rocksdb/db.h>

#include <array>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "engine/rocksdb/engine_options.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/folder_holder.h"
#include "engine/rocksdb/read_only.h"
#include "store/queue/embedded/item_type_encoding.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

Result<std::optional<std::uint32_t>> read_schema(const ReadOnly& database,
                                                 const std::filesystem::path& dir) {
  std::string value;
  const rocksdb::Status status =
      database.db().Get(rocksdb::ReadOptions(), database.meta(),
                        rocksdb::Slice(kSchemaKey.data(), kSchemaKey.size()), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(translate(status, dir, "read the schema version"));
  Result<std::uint32_t> version = decode_schema(value);
  if (!version) return std::unexpected(in_folder(std::move(version.error()), dir));
  return *version;
}

Result<std::vector<ItemTypeRecord>> read_item_types(const ReadOnly& database,
                                                    const std::filesystem::path& dir) {
  std::vector<ItemTypeRecord> records;
  rocksdb::ColumnFamilyHandle* const family = database.family(Family::item_type);
  if (family == nullptr) return records;
  const std::unique_ptr<rocksdb::Iterator> rows(
      database.db().NewIterator(rocksdb::ReadOptions(), family));
  rows->SeekToFirst();
  while (rows->Valid()) {  // the newest version of each stands first
    Result<ItemTypeRecord> record =
        decode_item_type(rows->key().ToStringView(), rows->value().ToStringView());
    if (!record) return std::unexpected(in_folder(std::move(record.error()), dir));
    records.push_back(std::move(*record));
    rows->Seek(behind(item_type_key(records.back().type)));
  }
  if (!rows->status().ok()) {
    return std::unexpected(translate(rows->status(), dir, "read the database"));
  }
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
  Result<ReadOnly> database = ReadOnly::open(dir, nullptr, families);
  if (!database) return std::unexpected(std::move(database.error()));
  Result<std::optional<std::uint32_t>> schema = read_schema(*database, dir);
  if (!schema) return std::unexpected(std::move(schema.error()));
  view.schema = *schema;
  if (!view.schema || *view.schema > kSchemaVersion) return view;  // its records are not ours
  Result<std::vector<ItemTypeRecord>> types = read_item_types(*database, dir);
  if (!types) return std::unexpected(std::move(types.error()));
  view.item_types = std::move(*types);
  return view;
}

}  // namespace penstock::store::embedded
