// One open RocksDB database with our column families and a schema that we know. Opening is all or
// nothing. Reads are safe on any thread; writes are the engine's.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine_options.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/format.h"

namespace penstock::store::embedded {

struct EngineOptions {
  std::filesystem::path dir;
  bool relaxed_durability = false;
  std::size_t cache_bytes = 0;
  std::size_t tables_open = 512;
  rocksdb::Env* env = nullptr;  // null = RocksDB's own; must outlive the engine
  bool accept_loss = false;     // opens a folder whose logs lack what its seal says that they have
};

// Whether there is a database to open. RocksDB would make a new one, and delete the files of the
// old, when only the pointer to it (CURRENT) is lost; we refuse.
Result<bool> has_database(const std::filesystem::path& dir);

class Database {
 public:
  // `clock` must outlive the database.
  static Result<std::unique_ptr<Database>> open(const EngineOptions& options, const Clock& clock);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  rocksdb::DB& db() const noexcept { return *db_; }
  rocksdb::ColumnFamilyHandle* family(Family family) const noexcept {
    return families_[static_cast<std::size_t>(family)];
  }

  // Writes the schema version, durably.
  Result<void> write_schema();

  // The number that ties the database to its seal; none: it was never sealed.
  Result<std::optional<std::uint64_t>> epoch() const;
  // Durable, and in a table, so that it is not lost with a log.
  Result<void> write_epoch(std::uint64_t epoch);

  // What stopped a flush or a compaction, if anything did. RocksDB is told not to go on by itself:
  // with 7.8 the log stays unusable after it "recovered" (facebook/rocksdb#11643).
  std::optional<Error> background_failure() const;

 private:
  class FailureListener;

  Database(const EngineOptions& options, const Clock& clock);
  Result<void> open_families(bool create);
  Result<void> check_schema();
  Place meta() const noexcept;
  Result<void> write_meta(std::string_view key, std::string_view value);

  const EngineOptions options_;
  const std::shared_ptr<FailureListener> listener_;
  const std::shared_ptr<rocksdb::Logger> diary_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> families_{};  // owned; freed before db_
};

}  // namespace penstock::store::embedded
