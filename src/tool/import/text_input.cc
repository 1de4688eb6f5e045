#include "tool/import/text_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace penstock::tool {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr int kPollMillis = 100;  // how soon Ctrl-C is noticed while standard input is silent

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, bool owned, const std::atomic<bool>& stop)
      : fd_(fd), owned_(owned), stop_(stop) {}
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }

  Result<std::size_t> read(std::span<char> into) override {
    while (!stop_.load()) {
      pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
      const int found = ::poll(&ready, 1, kPollMillis);
      if (found == 0 || (found < 0 && errno == EINTR)) continue;
      const ssize_t n = ::read(fd_, into.data(), into.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) {
        return fail(ErrorKind::unavailable,
                    fmt::format("cannot read: {}", std::generic_category().message(errno)));
      }
    }
    return std::size_t{0};
  }

 private:
  const int fd_;
  const bool owned_;
  const std::atomic<bool>& stop_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::filesystem::path& path,
                                                const std::atomic<bool>& stop) {
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO, false, stop);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorKind::invalid, fmt::format("cannot read {}: it is a folder", path.string()));
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorKind::invalid, fmt::format("cannot read {}: {}", path.string(),
                                                std::generic_category().message(errno)));
  }
  return std::make_unique<FileSource>(fd, true, stop);
}

std::optional<std::uint64_t> size_of_file(const std::filesystem::path& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return std::nullopt;
  return size;
}

Result<bool> TextInput::next(Line& line) {
  if (!put_back_.empty()) {
    line = std::move(put_back_.front());
    put_back_.pop_front();
    return true;
  }
  line.text.clear();
  line.too_long = false;
  bool any = false;
  for (;;) {
    if (used_ == buffer_.size()) {
      const bool more = PENSTOCK_TRY(fill());
      if (!more) {
        if (!any) return false;
        break;
      }
    }
    any = true;
    const std::size_t newline = buffer_.find('\n', used_);
    const std::size_t end = std::min(newline, buffer_.size());
    const std::size_t room = kLineBytesMax - line.text.size();
    line.text.append(buffer_, used_, std::min(end - used_, room));
    line.too_long = line.too_long || end - used_ > room;
    used_ = end;
    if (newline != std::string::npos) {
      ++used_;
      break;
    }
  }
  line.number = ++lines_;
  if (lines_ == 1 && line.text.starts_with("\xef\xbb\xbf")) line.text.erase(0, 3);
  return true;
}

Result<bool> TextInput::fill() {
  buffer_.resize(kPieceBytes);
  used_ = 0;
  const Result<std::size_t> n = source_->read(buffer_);
  buffer_.resize(n.value_or(0));
  if (!n) return std::unexpected(n.error());
  bytes_read_ += *n;
  return *n > 0;
}

}  // namespace penstock::tool
