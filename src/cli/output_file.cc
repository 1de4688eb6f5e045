#include "cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace penstock::cli {

Result<OutputFile> OutputFile::open(const std::filesystem::path& path) {
  if (path == "-") return OutputFile(stdout, "standard output");
  return open_as(path, "we");
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& path) {
  return open_as(path, "wxe");
}

Result<OutputFile> OutputFile::resume(const std::filesystem::path& path, std::uint64_t bytes) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size < bytes) {
    return fail(ErrorKind::invalid,
                fmt::format("{} is not as the run before left it", path.string()));
  }
  std::filesystem::resize_file(path, bytes, error);
  if (error) {
    return fail(ErrorKind::invalid,
                fmt::format("cannot write {}: {}", path.string(), error.message()));
  }
  return open_as(path, "ae");
}

Result<OutputFile> OutputFile::open_as(const std::filesystem::path& path, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) {
    return fail(ErrorKind::invalid, fmt::format("cannot write {}: {}", path.string(),
                                                std::generic_category().message(errno)));
  }
  return OutputFile(file, path.string());
}

Result<void> OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
    return std::unexpected(failed());
  }
  return {};
}

Result<void> OutputFile::flush() {
  if (std::fflush(file_.get()) != 0) return std::unexpected(failed());
  return {};
}

Result<void> OutputFile::sync() {
  PENSTOCK_TRY(flush());
  if (file_.get() != stdout && ::fdatasync(::fileno(file_.get())) != 0) {
    return std::unexpected(failed());
  }
  return {};
}

Result<void> OutputFile::close() {
  if (!file_) return {};
  std::FILE* file = file_.release();
  const int result = file == stdout ? std::fflush(file) : std::fclose(file);
  if (result != 0) return std::unexpected(failed());
  return {};
}

Error OutputFile::failed() const {
  return {
      .kind = ErrorKind::unavailable,
      .what = fmt::format("cannot write {}: {}", name_, std::generic_category().message(errno))};
}

}  // namespace penstock::cli
