// What a data folder is like, looked at from outside: also one that a daemon uses. Blocking;
// changes nothing, and makes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

struct FolderView {
  bool exists = false;
  std::optional<long> holder;  // the process that uses it, 0 = not known which; none: nobody does
  bool has_database = false;
  std::optional<std::uint32_t> schema;  // none: it has no database, or one of nothing yet
  std::vector<ItemTypeRecord> item_types;
};

// `corrupt` or `unavailable` when the files cannot be read. A daemon that writes at this moment may
// cause that too.
Result<FolderView> inspect_folder(const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
