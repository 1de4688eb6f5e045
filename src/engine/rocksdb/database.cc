#include "engine/rocksdb/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "engine/rocksdb/bytes.h"
#include "engine/rocksdb/folder.h"
#include "engine/rocksdb/seal.h"

namespace penstock::store::embedded {
namespace {

// RocksDB's own messages (problems only), in `rocksdb.log` of the data folder and one file before
// it. RocksDB's usual logger must not be used: once the disk was full, its next line trips an
// assertion and ends the process (7.8 as Debian builds it). This one drops what it cannot write.
// Thread-safe.
class Diary final : public rocksdb::Logger {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;  // a file

  Diary(const std::filesystem::path& dir, const Clock& clock);  // `clock` must outlive it
  ~Diary() override;

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;
  // Hundreds of lines of settings at every start: they stand in engine_options.cc.
  void LogHeader(const char* /*format*/, va_list /*arguments*/) override {}
  std::size_t GetLogFileSize() const override;

 private:
  void open_file();

  const Clock& clock_;
  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  int fd_ = -1;            // guarded by mutex_; -1 when the file could not be opened
  std::size_t bytes_ = 0;  // guarded by mutex_
};

Diary::Diary(const std::filesystem::path& dir, const Clock& clock)
    : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL),
      clock_(clock),
      file_(dir / "rocksdb.log") {
  open_file();
}

Diary::~Diary() {
  if (fd_ >= 0) close(fd_);
}

void Diary::open_file() {
  fd_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat status = {};
  bytes_ = fd_ >= 0 && fstat(fd_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void Diary::Logv(const char* format, va_list arguments) {
  std::array<char, 2'048> message;  // longer ones are cut
  if (std::vsnprintf(message.data(), message.size(), format, arguments) < 0) return;
  std::string line = format_instant(clock_.now()) + ' ' + message.data();
  if (line.back() != '\n') line.push_back('\n');

  const std::lock_guard lock(mutex_);
  if (fd_ >= 0 && bytes_ + line.size() > kBytesMax) {
    close(fd_);
    std::error_code ignored;
    std::filesystem::rename(file_, file_.string() + ".old", ignored);
    open_file();
  }
  if (fd_ < 0) return;
  if (const ssize_t done = write(fd_, line.data(), line.size()); done > 0) {
    bytes_ += static_cast<std::size_t>(done);
  }
}

std::size_t Diary::GetLogFileSize() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

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
  PENSTOCK_TRY(check(status, options.dir, "open the database"));
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
  PENSTOCK_TRY(check_disk_space(options.dir));
  const bool present = PENSTOCK_TRY(has_database(options.dir));
  if (present) {
    PENSTOCK_TRY(check_family_names(options));
    // Before anything is changed: whoever finds the lost file can put it back.
    PENSTOCK_TRY(options.accept_loss ? Result<void>() : check_seal(options.dir, options.env));
  }
  std::unique_ptr<Database> database(new Database(options, clock));
  PENSTOCK_TRY(database->open_families(!present));
  PENSTOCK_TRY(database->check_schema());
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
  PENSTOCK_TRY(check(status, options_.dir, "open the database"));
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

Place Database::meta() const noexcept {
  return {.db = *db_, .family = family(Family::meta), .dir = options_.dir};
}

Result<void> Database::check_schema() {
  const std::optional<std::uint32_t> version =
      PENSTOCK_TRY(find_record(meta(), kSchemaKey, "read the schema version", decode_schema));
  if (version) {
    if (*version <= kSchemaVersion) return {};
    return std::unexpected(newer_schema(options_.dir, fmt::format("schema {}", *version)));
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
    PENSTOCK_TRY(check(rows->status(), options_.dir, "read the database"));
  }
  return write_schema();
}

Result<void> Database::write_schema() {
  return write_meta(kSchemaKey, encode_schema(kSchemaVersion));
}

Result<std::optional<std::uint64_t>> Database::epoch() const {
  return find_record(meta(), kEpochKey, "read the epoch of the seal", decode_epoch);
}

Result<void> Database::write_epoch(std::uint64_t epoch) {
  PENSTOCK_TRY(write_meta(kEpochKey, encode_epoch(epoch)));
  return check(db_->Flush(rocksdb::FlushOptions(), family(Family::meta)), options_.dir, "write");
}

Result<void> Database::write_meta(std::string_view key, std::string_view value) {
  rocksdb::WriteOptions durably;
  durably.sync = true;
  return check(db_->Put(durably, family(Family::meta), slice(key), slice(value)), options_.dir,
               "write");
}

std::optional<Error> Database::background_failure() const { return listener_->failure(); }

}  // namespace penstock::store::embedded
