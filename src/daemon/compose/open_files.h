// How the files that the system lets a process have open are shared out: what the store and the
// daemon itself need comes first, and connections get the rest. A store that cannot open a file
// fails every write, so idle connections must never use up its share. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "daemon/config/config.h"

namespace penstock::daemon {

// What the settings may come to.
struct FileNeeds {
  std::uint64_t own = 0;  // event loops, listeners, databases, what libraries open
  bool folder = false;    // the embedded store is used
  std::size_t http = 0;   // connections
  std::size_t resp = 0;   // connections; 0 = not served

  std::uint64_t total() const noexcept;  // with nothing made smaller
};
FileNeeds file_needs_of(const Config& config) noexcept;

// What each gets.
struct FileShares {
  std::uint64_t reserved = 0;  // for all but connections
  std::size_t tables = 0;      // of the store, open at once
  std::size_t refusals = 0;    // connections beyond the limit that are told so
  std::size_t http = 0;
  std::size_t resp = 0;
};
// Fewer allowed than needed makes the shares smaller. `invalid`: too few to work with.
Result<FileShares> share_files(const FileNeeds& needs, std::uint64_t allowed);

void apply(const FileShares& shares, Config& config) noexcept;

// How to have enough, for people.
std::string more_files(const FileNeeds& needs);

}  // namespace penstock::daemon
