// A file that a command writes, or standard output: buffered, and a full disk is an error, not a
// short file. One thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::cli {

class OutputFile {
 public:
  // `path` "-" is standard output. An existing file is replaced.
  static Result<OutputFile> open(const std::filesystem::path& path);
  // A new file; one that exists is an error.
  static Result<OutputFile> create(const std::filesystem::path& path);

  // A file that an earlier run wrote, to be gone on with after its first `bytes`; the rest is cut
  // off. A file that has fewer, or is not there, is `invalid`.
  static Result<OutputFile> resume(const std::filesystem::path& path, std::uint64_t bytes);

  Result<void> write(std::string_view text);
  // What was written is out of this process when this returns.
  Result<void> flush();
  // What was written is on disk when this returns; standard output is only flushed.
  Result<void> sync();
  // Flushes; what is not closed may not be on disk.
  Result<void> close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const noexcept {
      if (file != stdout) std::fclose(file);
    }
  };
  static Result<OutputFile> open_as(const std::filesystem::path& path, const char* mode);
  OutputFile(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}
  Error failed() const;

  std::unique_ptr<std::FILE, Closer> file_;
  std::string name_;
};

}  // namespace penstock::cli
