// A database that is only looked at; others may write it at the same time, and RocksDB holds no
// lock for it. Nothing in the folder changes. One thread.
#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/rocksdb/engine_options.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/seal.h"

namespace penstock::store::embedded {

class ReadOnly {
 public:
  // Opens those of `families` that there are; the first must be `meta`. Reads all logs, also of
  // families that are not opened. `env` null = RocksDB's own.
  static Result<ReadOnly> open(const std::filesystem::path& dir, rocksdb::Env* env,
                               std::span<const Family> families);
  ReadOnly(ReadOnly&&) = default;
  ~ReadOnly();

  rocksdb::DB& db() const noexcept { return *db_; }
  Place meta() const noexcept { return {.db = *db_, .family = handles_.front(), .dir = dir_}; }
  // Null: the folder is of a time without this family.
  rocksdb::ColumnFamilyHandle* family(Family family) const noexcept;

  Result<DatabaseEnd> end() const;

 private:
  explicit ReadOnly(std::filesystem::path dir) : dir_(std::move(dir)) {}

  std::filesystem::path dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // owned; freed before db_
};

}  // namespace penstock::store::embedded
