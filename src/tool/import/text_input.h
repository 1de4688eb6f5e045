// Lines of a file or of standard input, read in large pieces, with a limit on the length of one
// line. One thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace penstock::tool {

// Where bytes come from; tests use a string.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual Result<std::size_t> read(std::span<char> into) = 0;  // 0 = the end
};

// `path` "-" is standard input. A read ends early (as if the file did) once `stop` is true, which
// must outlive the source.
Result<std::unique_ptr<ByteSource>> open_source(const std::filesystem::path& path,
                                                const std::atomic<bool>& stop);

// Of a regular file; nothing for pipes and standard input.
std::optional<std::uint64_t> size_of_file(const std::filesystem::path& path);

struct Line {
  std::string text;          // without its newline
  std::uint64_t number = 0;  // from 1
  bool too_long = false;     // `text` is only the head
};

class TextInput {
 public:
  // An event is some hundred bytes; whoever sends more has lost a newline.
  static constexpr std::size_t kLineBytesMax = 64 * 1024;

  explicit TextInput(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // False at the end. A byte order mark at the start of the input is cut.
  Result<bool> next(Line& line);

  // The next call of next() gives `line` again.
  void put_back(Line line) { put_back_.push_front(std::move(line)); }

  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  Result<bool> fill();  // false at the end

  const std::unique_ptr<ByteSource> source_;
  std::deque<Line> put_back_;
  std::string buffer_;
  std::size_t used_ = 0;  // of the buffer
  std::uint64_t bytes_read_ = 0;
  std::uint64_t lines_ = 0;
};

}  // namespace penstock::tool
