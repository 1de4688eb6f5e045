#include "engine/rocksdb/disk_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "engine/rocksdb/errors.h"

namespace penstock::store::embedded {
namespace {

// Opening writes what the logs hold and the tables do not, which is never more than the write
// buffers held (engine_options.cc: 3 * 8 + 2 * 4 + 4 * 1 MiB).
constexpr std::uintmax_t kReplayBytesMax = std::uintmax_t{36} << 20;
// Beyond that, its own small files and the first new log.
constexpr std::uintmax_t kOpenBytes = std::uintmax_t{1} << 20;

std::uintmax_t log_bytes(const std::filesystem::path& dir) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  // Not a range-for: its increment throws.
  for (std::filesystem::directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".log") continue;
    std::error_code gone;
    const std::uintmax_t size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace

Result<void> check_disk_space(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / "penstock.probe";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return std::unexpected(translate(errno, dir, "write"));
  const std::uintmax_t needed = std::min(log_bytes(dir), kReplayBytesMax) + kOpenBytes;
  int problem = posix_fallocate(fd, 0, static_cast<off_t>(needed));
  if (problem == 0 && fdatasync(fd) != 0) problem = errno;
  close(fd);
  unlink(file.c_str());
  if (problem == 0) return {};
  return std::unexpected(
      translate(problem, dir, fmt::format("set {} MiB aside", (needed + kOpenBytes - 1) >> 20)));
}

}  // namespace penstock::store::embedded
