// Translates what RocksDB and the system report into our errors, once; and reads single records,
// which can fail in both ways: the read, and the decoder.
#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace penstock::store::embedded {

// `doing` completes "embedded store in DIR: cannot …".
Error translate(const rocksdb::Status& status, const std::filesystem::path& dir,
                std::string_view doing);
Error translate(int system_errno, const std::filesystem::path& dir, std::string_view doing);

Result<void> check(const rocksdb::Status& status, const std::filesystem::path& dir,
                   std::string_view doing);

// Puts the folder in front of a decoder's sentence.
Error in_folder(Error error, const std::filesystem::path& dir);
template <class T>
Result<T> in_folder(Result<T> decoded, const std::filesystem::path& dir) {
  if (!decoded) [[unlikely]] {
    decoded = std::unexpected(in_folder(std::move(decoded).error(), dir));
  }
  return decoded;
}

inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// Where records are looked up.
struct Place {
  rocksdb::DB& db;
  rocksdb::ColumnFamilyHandle* family;
  const std::filesystem::path& dir;
};

// The record at `key`, decoded; none when there is none. `doing` as in translate().
template <class Decode>
auto find_record(const Place& place, std::string_view key, std::string_view doing,
                 const Decode& decode, const rocksdb::ReadOptions& options = {})
    -> Result<
        std::optional<typename std::invoke_result_t<const Decode&, std::string_view>::value_type>> {
  std::string value;
  const rocksdb::Status status = place.db.Get(options, place.family, slice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  PENSTOCK_TRY(check(status, place.dir, doing));
  return in_folder(decode(std::string_view(value)), place.dir);
}

}  // namespace penstock::store::embedded
