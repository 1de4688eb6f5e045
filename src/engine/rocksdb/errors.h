// Translates what RocksDB and the system report into our errors, once.
#pragma once

#include <rocksdb/status.h>

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace penstock::store::embedded {

// `doing` completes "embedded store in DIR: cannot …".
Error translate(const rocksdb::Status& status, const std::filesystem::path& dir,
                std::string_view doing);
Error translate(int system_errno, const std::filesystem::path& dir, std::string_view doing);

// Puts the folder in front of a decoder's sentence.
Error in_folder(Error error, const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
