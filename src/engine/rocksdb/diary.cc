#include "engine/rocksdb/diary.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <system_error>

#include "base/iso8601.h"

namespace penstock::store::embedded {

Diary::Diary(const std::filesystem::path& dir, const Clock& clock)
    : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL),
      clock_(clock),
      file_(dir / "rocksdb.log") {
  open_file();
}

Diary::~Diary() {
  if (fd_ >= 0) close(fd_);
}

void Diary::open_file() {
  fd_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat status = {};
  bytes_ = fd_ >= 0 && fstat(fd_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void Diary::Logv(const char* format, va_list arguments) {
  std::array<char, 2'048> message;  // longer ones are cut
  if (std::vsnprintf(message.data(), message.size(), format, arguments) < 0) return;
  std::string line = format_instant(clock_.now()) + ' ' + message.data();
  if (line.back() != '\n') line.push_back('\n');

  const std::lock_guard lock(mutex_);
  if (fd_ >= 0 && bytes_ + line.size() > kBytesMax) {
    close(fd_);
    std::error_code ignored;
    std::filesystem::rename(file_, file_.string() + ".old", ignored);
    open_file();
  }
  if (fd_ < 0) return;
  if (const ssize_t done = write(fd_, line.data(), line.size()); done > 0) {
    bytes_ += static_cast<std::size_t>(done);
  }
}

std::size_t Diary::GetLogFileSize() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace penstock::store::embedded
