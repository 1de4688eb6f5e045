// The file SEAL of a data folder: up to where writes were acknowledged, kept beside the database so
// that a database that comes back shorter is noticed. RocksDB takes a log that was deleted or cut
// for one that never was longer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rocksdb {
class Env;
}

namespace penstock::store::embedded {

struct Seal {
  std::uint64_t epoch = 0;     // the database holds the same number: they belong together
  std::uint64_t sequence = 0;  // of the last write that was acknowledged; 0 = being made
  std::uint64_t log = 0;       // number of the log that holds it; 0 = tables hold all of it

  friend bool operator==(const Seal&, const Seal&) = default;
};

inline constexpr std::string_view kSealName = "SEAL";
inline constexpr std::string_view kEpochKey = "seal_epoch";  // in the family `meta`

std::string encode_seal(const Seal& seal);
Result<Seal> decode_seal(std::string_view text);  // any bytes give a seal or `corrupt`

std::string encode_epoch(std::uint64_t epoch);
Result<std::uint64_t> decode_epoch(std::string_view value);

// None: there is no such file.
Result<std::optional<Seal>> read_seal(const std::filesystem::path& dir);

// Durable when it returns; a crash leaves the old file or the new one.
Result<void> write_seal(const std::filesystem::path& dir, const Seal& seal);

// What a database holds by itself.
struct DatabaseEnd {
  std::optional<std::uint64_t> epoch;  // none: it was never sealed
  std::uint64_t sequence = 0;          // of the last write in tables and logs
  std::uint64_t oldest_log = 0;        // logs with lower numbers are in tables
};

// `corrupt`, with a sentence that names the file and the way out, when the database lacks what the
// seal says that it has. Pure but for a look whether the log is there.
Result<void> compare_seal(const std::filesystem::path& dir, const std::optional<Seal>& seal,
                          const DatabaseEnd& end);

// The same for the folder as it is; changes nothing in it. `env` null = RocksDB's own. Also
// `corrupt` when a log is damaged or a closed one is missing. For a folder with a database.
Result<void> check_seal(const std::filesystem::path& dir, rocksdb::Env* env);

}  // namespace penstock::store::embedded
