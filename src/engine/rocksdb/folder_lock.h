// Holds a data folder for one store: a second one, in this process or another, is refused. Kept
// while the engine closes and reopens its database, when RocksDB's own lock is free for a moment.
// The system drops it when the process dies, however it dies.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace penstock::store::embedded {

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

}  // namespace penstock::store::embedded
