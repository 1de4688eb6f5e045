// Reads every block of a data folder that no process uses: tables, logs and the seal. Blocking.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace penstock::store::embedded {

struct VerifyProgress {
  std::uint64_t tables = 0;  // read so far
  std::uint64_t tables_total = 0;
  std::uint64_t bytes = 0;  // read so far, of tables
  std::uint64_t bytes_total = 0;
};

struct Verdict {
  VerifyProgress read;
  std::optional<std::string> loss;   // acknowledged writes that logs or seal lack, in a sentence
  std::vector<std::string> damaged;  // tables, a sentence each

  bool good() const noexcept { return !loss && damaged.empty(); }
  bool complete() const noexcept { return read.tables == read.tables_total; }
};

// Changes nothing. Asks `go_on` before each table; false ends the reading early. `not_found`: there
// is no database. `unavailable`: a process uses the folder, or it cannot be read.
Result<Verdict> verify_folder(const std::filesystem::path& dir,
                              const std::function<bool(const VerifyProgress&)>& go_on);

// Opens the folder with what logs and tables still hold, and seals that: the next start takes it.
Result<void> accept_loss(const std::filesystem::path& dir, const Clock& clock);

}  // namespace penstock::store::embedded
