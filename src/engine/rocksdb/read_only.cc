#include "engine/rocksdb/read_only.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/rocksdb/errors.h"

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{1} << 20;  // a look reads a few blocks

// The folder has a diary of its own, which is the daemon's.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

}  // namespace

Result<ReadOnly> ReadOnly::open(const std::filesystem::path& dir, rocksdb::Env* env,
                                std::span<const Family> families) {
  rocksdb::DBOptions options = make_db_options(env);
  options.create_if_missing = false;
  options.info_log = std::make_shared<NoLog>();
  std::vector<std::string> there;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, dir.string(), &there);
  PENSTOCK_TRY(check(status, dir, "open the database"));
  const auto cache = make_block_cache(kCacheBytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  for (const Family family : families) {
    if (std::ranges::find(there, family_name(family)) == there.end()) continue;  // an old folder
    wanted.emplace_back(family_name(family), make_family_options(family, cache));
  }
  ReadOnly opened(dir);
  rocksdb::DB* db = nullptr;
  status = rocksdb::DB::OpenForReadOnly(options, dir.string(), wanted, &opened.handles_, &db);
  PENSTOCK_TRY(check(status, dir, "open the database"));
  opened.db_.reset(db);
  return opened;
}

ReadOnly::~ReadOnly() {
  if (!db_) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

rocksdb::ColumnFamilyHandle* ReadOnly::family(Family family) const noexcept {
  const auto found = std::ranges::find_if(
      handles_, [&](const auto* handle) { return handle->GetName() == family_name(family); });
  return found == handles_.end() ? nullptr : *found;
}

Result<DatabaseEnd> ReadOnly::end() const {
  DatabaseEnd end{.epoch = std::nullopt, .sequence = db_->GetLatestSequenceNumber()};
  end.epoch =
      PENSTOCK_TRY(find_record(meta(), kEpochKey, "read the epoch of the seal", decode_epoch));
  db_->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &end.oldest_log);
  return end;
}

}  // namespace penstock::store::embedded
