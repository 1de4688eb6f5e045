#include "store/embedded/inspect.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "store/embedded/cursor.h"
#include "store/embedded/encoding.h"
#include "store/embedded/engine_options.h"
#include "store/embedded/errors.h"
#include "store/embedded/folder_holder.h"
#include "store/embedded/item_type_encoding.h"

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{1} << 20;  // a look reads a few blocks

// The folder has a diary of its own, which is the daemon's.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// A database that others may write at the same time. RocksDB holds no lock for it.
class ReadOnly {
 public:
  static Result<ReadOnly> open(const std::filesystem::path& dir) {
    rocksdb::DBOptions options = make_db_options(nullptr);
    options.create_if_missing = false;
    options.info_log = std::make_shared<NoLog>();
    std::vector<std::string> there;
    rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, dir.string(), &there);
    if (!status.ok()) return std::unexpected(translate(status, dir, "open the database"));
    const auto cache = make_block_cache(kCacheBytes);
    std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
    for (const Family family : {Family::meta, Family::item_type}) {
      if (std::ranges::find(there, family_name(family)) == there.end()) continue;  // an old folder
      wanted.emplace_back(family_name(family), make_family_options(family, cache));
    }
    ReadOnly opened;
    rocksdb::DB* db = nullptr;
    status = rocksdb::DB::OpenForReadOnly(options, dir.string(), wanted, &opened.families_, &db);
    if (!status.ok()) return std::unexpected(translate(status, dir, "read the database"));
    opened.db_.reset(db);
    return opened;
  }
  ReadOnly(ReadOnly&&) = default;
  ~ReadOnly() {
    if (!db_) return;
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
  }

  rocksdb::DB& db() const noexcept { return *db_; }
  rocksdb::ColumnFamilyHandle* meta() const noexcept { return families_.front(); }
  // Null: the folder is of a time without item types.
  rocksdb::ColumnFamilyHandle* item_types() const noexcept {
    return families_.size() > 1 ? families_.back() : nullptr;
  }

 private:
  ReadOnly() = default;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

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
  if (database.item_types() == nullptr) return records;
  const std::unique_ptr<rocksdb::Iterator> rows(
      database.db().NewIterator(rocksdb::ReadOptions(), database.item_types()));
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
  Result<ReadOnly> database = ReadOnly::open(dir);
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
