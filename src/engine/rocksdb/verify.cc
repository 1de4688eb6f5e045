#include "engine/rocksdb/verify.h"

#include <fmt/format.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/rocksdb/database.h"
#include "engine/rocksdb/engine.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/folder.h"
#include "engine/rocksdb/read_only.h"
#include "engine/rocksdb/seal.h"

namespace penstock::store::embedded {
namespace {

struct Table {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
};

std::vector<Table> tables_of(const ReadOnly& database) {
  std::vector<rocksdb::LiveFileMetaData> files;
  database.db().GetLiveFilesMetaData(&files);
  std::vector<Table> tables;
  for (const rocksdb::LiveFileMetaData& file : files) {
    tables.push_back({file.db_path + file.name, file.size});
  }
  return tables;
}

// Of a database that does not open: all that lie about.
std::vector<Table> tables_in(const std::filesystem::path& dir) {
  std::vector<Table> tables;
  std::error_code error;
  // Not a range-for: its increment throws.
  for (std::filesystem::directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".sst") continue;
    std::error_code gone;
    const std::uintmax_t size = at->file_size(gone);
    if (!gone) tables.push_back({at->path(), size});
  }
  std::ranges::sort(tables, {}, &Table::file);
  return tables;
}

rocksdb::Status read_table(const Table& table) {
  rocksdb::SstFileReader reader{rocksdb::Options()};
  const rocksdb::Status status = reader.Open(table.file.string());
  return status.ok() ? reader.VerifyChecksum() : status;
}

}  // namespace

Result<Verdict> verify_folder(const std::filesystem::path& dir,
                              const std::function<bool(const VerifyProgress&)>& go_on) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(dir, ignored)) {
    return fail(ErrorKind::not_found, fmt::format("there is no folder {}", dir.string()));
  }
  if (const std::optional<long> holder = folder_holder(dir)) {
    return fail(ErrorKind::unavailable,
                fmt::format("data folder {} is in use by process {}: stop it, or verify a copy",
                            dir.string(), *holder));
  }
  const bool present = PENSTOCK_TRY(has_database(dir));
  if (!present) {
    return fail(ErrorKind::not_found, fmt::format("folder {} holds no database", dir.string()));
  }
  Verdict verdict;
  std::vector<Table> tables;
  if (Result<void> sealed = check_seal(dir, nullptr); !sealed) {
    if (sealed.error().kind != ErrorKind::corrupt) return std::unexpected(sealed.error());
    verdict.loss = sealed.error().what;
  }
  if (Result<ReadOnly> database = ReadOnly::open(dir, nullptr, kAllFamilies); database) {
    tables = tables_of(*database);
  } else if (database.error().kind != ErrorKind::corrupt) {
    return std::unexpected(database.error());
  } else {
    if (!verdict.loss) verdict.damaged.push_back(database.error().what);
    tables = tables_in(dir);
  }
  verdict.read.tables_total = tables.size();
  for (const Table& table : tables) verdict.read.bytes_total += table.bytes;
  for (const Table& table : tables) {
    if (!go_on(verdict.read)) break;
    if (const rocksdb::Status status = read_table(table); !status.ok()) {
      verdict.damaged.push_back(fmt::format("{}: {}", table.file.string(), status.ToString()));
    }
    ++verdict.read.tables;
    verdict.read.bytes += table.bytes;
  }
  return verdict;
}

Result<void> accept_loss(const std::filesystem::path& dir, const Clock& clock) {
  constexpr std::size_t kBlocksBytes = std::size_t{8} << 20;
  std::unique_ptr<Engine> engine = PENSTOCK_TRY(
      Engine::open({.dir = dir, .cache_bytes = kBlocksBytes, .accept_loss = true}, clock));
  return {};
}

}  // namespace penstock::store::embedded
