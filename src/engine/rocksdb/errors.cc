#include "engine/rocksdb/errors.h"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace penstock::store::embedded {
namespace {

ErrorKind kind_of(const rocksdb::Status& status) {
  // A file that the database lists and that is not there is damage, not a passing fault.
  return status.IsCorruption() || status.IsPathNotFound() ? ErrorKind::corrupt
                                                          : ErrorKind::unavailable;
}

std::string sentence(const std::filesystem::path& dir, std::string_view doing,
                     std::string_view why) {
  return fmt::format("embedded store in {}: cannot {}: {}", dir.string(), doing, why);
}

}  // namespace

Error translate(const rocksdb::Status& status, const std::filesystem::path& dir,
                std::string_view doing) {
  if (status.IsNoSpace()) return translate(ENOSPC, dir, doing);
  return {.kind = kind_of(status), .what = sentence(dir, doing, status.ToString())};
}

Error translate(int system_errno, const std::filesystem::path& dir, std::string_view doing) {
  if (system_errno == ENOSPC || system_errno == EDQUOT) {
    return {.kind = ErrorKind::unavailable,
            .what = sentence(dir, doing, "no space left on the disk")};
  }
  return {.kind = ErrorKind::unavailable,
          .what = sentence(dir, doing, std::generic_category().message(system_errno))};
}

Result<void> check(const rocksdb::Status& status, const std::filesystem::path& dir,
                   std::string_view doing) {
  if (status.ok()) return {};
  return std::unexpected(translate(status, dir, doing));
}

Error in_folder(Error error, const std::filesystem::path& dir) {
  error.what = fmt::format("embedded store in {}: {}", dir.string(), error.what);
  return error;
}

}  // namespace penstock::store::embedded
