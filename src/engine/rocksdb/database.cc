#include "engine/rocksdb/database.h"

#include <fmt/format.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/rocksdb/bytes.h"
#include "engine/rocksdb/diary.h"
#include "engine/rocksdb/disk_space.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/seal.h"

namespace penstock::store::embedded {
namespace {

bool known_family(std::string_view name) {
  return std::ranges::any_of(kAllFamilies, [&](Family f) { return name == family_name(f); });
}

Error newer_schema(const std::filesystem::path& dir, std::string_view sign) {
  return {.kind = ErrorKind::unavailable,
          .what = fmt::format("data folder {} was written by a newer version of Penstock ({}; this "
                              "version knows schema {}): start that version, or another folder",
                              dir.string(), sign, kSchemaVersion)};
}

Result<void> check_family_names(const EngineOptions& options) {
  std::vector<std::string> names;
  const rocksdb::Status status =
      rocksdb::DB::ListColumnFamilies(make_db_options(options.env), options.dir.string(), &names);
  if (!status.ok()) return std::unexpected(translate(status, options.dir, "open the database"));
  for (const std::string& name : names) {
    if (!known_family(name)) {
      return std::unexpected(newer_schema(options.dir, fmt::format("it holds '{}'", name)));
    }
  }
  return {};
}

}  // namespace

std::string encode_schema(std::uint32_t version) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, version);
  return out;
}

Result<std::uint32_t> decode_schema(std::string_view value) {
  ByteReader reader("the schema version", value);
  reader.format();
  const auto version = reader.number<std::uint32_t>();
  return reader.done(version);
}

Result<bool> has_database(const std::filesystem::path& dir) {
  std::error_code error;
  if (std::filesystem::exists(dir / "CURRENT", error)) return true;
  // Not a range-for: its increment throws.
  for (std::filesystem::directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error)) {
    const std::filesystem::path& file = at->path();
    if (file.extension() == ".sst" || file.extension() == ".log" || file.filename() == kSealName) {
      return fail(ErrorKind::corrupt,
                  fmt::format("data folder {} holds data ({}) but its file CURRENT is missing: "
                              "restore the folder from a backup",
                              dir.string(), file.filename().string()));
    }
  }
  if (error) return std::unexpected(translate(error.value(), dir, "read the folder"));
  return false;
}

class Database::FailureListener final : public rocksdb::EventListener {
 public:
  explicit FailureListener(std::filesystem::path dir) : dir_(std::move(dir)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* status) override {
    if (status == nullptr || status->ok()) return;
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = translate(*status, dir_, "write");
  }

  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  const std::filesystem::path dir_;
  mutable std::mutex mutex_;
  std::optional<Error> failure_;  // guarded by mutex_
};

Database::Database(const EngineOptions& options, const Clock& clock)
    : options_(options),
      listener_(std::make_shared<FailureListener>(options.dir)),
      diary_(std::make_shared<Diary>(options.dir, clock)) {}

Database::~Database() {
  if (!db_) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family != nullptr) db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  db_->Close().PermitUncheckedError();  // what was acknowledged is in the log already
}

Result<std::unique_ptr<Database>> Database::open(const EngineOptions& options, const Clock& clock) {
  if (Result<void> space = check_disk_space(options.dir); !space) {
    return std::unexpected(std::move(space.error()));
  }
  const Result<bool> present = has_database(options.dir);
  if (!present) return std::unexpected(present.error());
  if (*present) {
    if (Result<void> known = check_family_names(options); !known) {
      return std::unexpected(std::move(known.error()));
    }
    // Before anything is changed: whoever finds the lost file can put it back.
    if (Result<void> sealed =
            options.accept_loss ? Result<void>() : check_seal(options.dir, options.env);
        !sealed) {
      return std::unexpected(std::move(sealed.error()));
    }
  }
  std::unique_ptr<Database> database(new Database(options, clock));
  if (Result<void> opened = database->open_families(!*present); !opened) {
    return std::unexpected(std::move(opened.error()));
  }
  if (Result<void> schema = database->check_schema(); !schema) {
    return std::unexpected(std::move(schema.error()));
  }
  return database;
}

Result<void> Database::open_families(bool create) {
  rocksdb::DBOptions options = make_db_options(options_.env);
  options.create_if_missing = create;
  options.max_open_files = static_cast<int>(options_.tables_open);
  options.create_missing_column_families = true;
  if (options_.accept_loss) {  // up to the first damage, and over gaps
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    options.track_and_verify_wals_in_manifest = false;
  }
  options.listeners.push_back(listener_);
  options.info_log = diary_;
  const auto cache = make_block_cache(options_.cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(kFamilies);
  for (const Family family : kAllFamilies) {
    descriptors.emplace_back(family_name(family), make_family_options(family, cache));
  }
  // RocksDB writes, reads and syncs its options for each family that it makes while it opens, and
  // once for all that are made together afterwards: a tenth of a second instead of a third.
  std::vector<rocksdb::ColumnFamilyDescriptor> later;
  if (create) {
    later.assign(descriptors.begin() + 1, descriptors.end());
    descriptors.resize(1);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(options, options_.dir.string(), descriptors, &handles, &db);
  if (!status.ok()) return std::unexpected(translate(status, options_.dir, "open the database"));
  db_.reset(db);
  auto next = std::ranges::copy(handles, families_.begin()).out;
  if (create) {
    handles.clear();
    status = db->CreateColumnFamilies(later, &handles);
    std::ranges::copy(handles, next);
    if (!status.ok()) return std::unexpected(translate(status, options_.dir, "make the database"));
  }
  return {};
}

Result<void> Database::check_schema() {
  const rocksdb::Slice key(kSchemaKey.data(), kSchemaKey.size());
  std::string value;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), family(Family::meta), key, &value);
  if (status.ok()) {
    const Result<std::uint32_t> version = decode_schema(value);
    if (!version) return std::unexpected(in_folder(version.error(), options_.dir));
    if (*version > kSchemaVersion) {
      return std::unexpected(newer_schema(options_.dir, fmt::format("schema {}", *version)));
    }
    return {};
  }
  if (!status.IsNotFound()) {
    return std::unexpected(translate(status, options_.dir, "read the schema version"));
  }
  for (const Family data : kAllFamilies) {
    if (data == Family::meta) continue;
    const std::unique_ptr<rocksdb::Iterator> rows(
        db_->NewIterator(rocksdb::ReadOptions(), family(data)));
    rows->SeekToFirst();
    if (rows->Valid()) {
      return fail(ErrorKind::corrupt, fmt::format("data folder {} holds data but no schema version",
                                                  options_.dir.string()));
    }
    if (!rows->status().ok()) {
      return std::unexpected(translate(rows->status(), options_.dir, "read the database"));
    }
  }
  return write_schema();
}

Result<void> Database::write_schema() {
  rocksdb::WriteOptions durably;
  durably.sync = true;
  const rocksdb::Status status =
      db_->Put(durably, family(Family::meta), rocksdb::Slice(kSchemaKey.data(), kSchemaKey.size()),
               encode_schema(kSchemaVersion));
  if (!status.ok()) return std::unexpected(translate(status, options_.dir, "write"));
  return {};
}

Result<std::optional<std::uint64_t>> Database::epoch() const {
  std::string value;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), family(Family::meta),
               rocksdb::Slice(kEpochKey.data(), kEpochKey.size()), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) {
    return std::unexpected(translate(status, options_.dir, "read the epoch of the seal"));
  }
  const Result<std::uint64_t> epoch = decode_epoch(value);
  if (!epoch) return std::unexpected(in_folder(epoch.error(), options_.dir));
  return *epoch;
}

Result<void> Database::write_epoch(std::uint64_t epoch) {
  rocksdb::WriteOptions durably;
  durably.sync = true;
  rocksdb::Status status =
      db_->Put(durably, family(Family::meta), rocksdb::Slice(kEpochKey.data(), kEpochKey.size()),
               encode_epoch(epoch));
  if (status.ok()) status = db_->Flush(rocksdb::FlushOptions(), family(Family::meta));
  if (!status.ok()) return std::unexpected(translate(status, options_.dir, "write"));
  return {};
}

std::optional<Error> Database::background_failure() const { return listener_->failure(); }

}  // namespace penstock::store::embedded
