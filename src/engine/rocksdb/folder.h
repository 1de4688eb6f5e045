// The data folder itself: who has it, who may look into it, and whether the disk takes what opening
// a database writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace penstock::store::embedded {

// Holds a data folder for one store: a second one, in this process or another, is refused. Kept
// while the engine closes and reopens its database, when RocksDB's own lock is free for a moment.
// The system drops it when the process dies, however it dies.
class FolderLock {
 public:
  // Makes the folder when it is missing. One that it makes or finds empty is for this user alone.
  static Result<FolderLock> take(const std::filesystem::path& dir);

  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) noexcept : fd_(fd) {}
  int fd_;
};

// Who has a data folder, asked from outside: a process id, 0 when it is not known; none when the
// folder is free. Holds its lock for a moment, for there is no other way to ask.
std::optional<long> folder_holder(const std::filesystem::path& dir);

struct OpenFolder {
  std::uint32_t mode = 0;
  std::string fix;  // the command that closes it
};
// A folder that others may read, write or enter; none: only its user may, or it is not there. Of a
// folder that is somebody else's, such as a volume, the group does not count: this user may be in
// it.
std::optional<OpenFolder> open_to_others(const std::filesystem::path& dir);

// Whether the disk takes what opening a database writes. Asked before RocksDB is: an open that
// fails half way costs readers their database, and RocksDB does not take a full disk well.
Result<void> check_disk_space(const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
