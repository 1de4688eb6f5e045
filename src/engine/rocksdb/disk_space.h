// Whether the disk takes what opening a database writes. Asked before RocksDB is: an open that
// fails half way costs readers their database, and RocksDB does not take a full disk well.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace penstock::store::embedded {

Result<void> check_disk_space(const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
