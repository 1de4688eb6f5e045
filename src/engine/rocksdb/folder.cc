#include "engine/rocksdb/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
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

// The process id that the holder wrote, 0 when it cannot be read.
long holder_of(int fd) {
  std::array<char, 32> text;
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  long pid = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
  return pid;
}

// Only for the other side's error message, so a failure to write it is no reason to stop.
void write_holder(int fd) {
  const std::string text = fmt::format("{}\n", getpid());
  if (ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = pwrite(fd, text.data(), text.size(), 0);
}

// Others may not look into a folder that this process makes, or finds with nothing in it. That may
// fail where the folder is somebody else's, such as the root of a volume: see open_to_others().
Result<void> make_private(const std::filesystem::path& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return std::unexpected(translate(error.value(), dir, "make the folder"));
  if (std::filesystem::is_empty(dir, error) && !error && open_to_others(dir)) {
    std::filesystem::permissions(dir, std::filesystem::perms::owner_all, error);
  }
  return {};
}

}  // namespace

std::optional<OpenFolder> open_to_others(const std::filesystem::path& dir) {
  struct stat status = {};
  if (stat(dir.c_str(), &status) != 0) return std::nullopt;
  const bool ours = status.st_uid == geteuid() || geteuid() == 0;
  if ((status.st_mode & (ours ? S_IRWXG | S_IRWXO : S_IRWXO)) == 0) return std::nullopt;
  return OpenFolder{.mode = status.st_mode & 07777U,
                    .fix = fmt::format("chmod -R {}-rwx {}", ours ? "go" : "o", dir.string())};
}

Result<FolderLock> FolderLock::take(const std::filesystem::path& dir) {
  PENSTOCK_TRY(make_private(dir));
  const std::filesystem::path file = dir / "penstock.lock";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return std::unexpected(translate(errno, dir, "write to the folder"));
  FolderLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(translate(errno, dir, "lock the folder"));
    const long holder = holder_of(fd);
    return fail(
        ErrorKind::unavailable,
        fmt::format("data folder {} is in use by {}; one folder serves one process", dir.string(),
                    holder == getpid() ? std::string("this process already")
                    : holder > 0       ? fmt::format("process {}", holder)
                                       : std::string("another process")));
  }
  write_holder(fd);
  return lock;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

std::optional<long> folder_holder(const std::filesystem::path& dir) {
  const int fd = open((dir / "penstock.lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const long holder = held ? holder_of(fd) : 0;
  close(fd);  // and with it the lock
  return held ? std::optional(holder) : std::nullopt;
}

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
