#include "runtime/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace penstock::runtime {
namespace {

// Of hex digits that is 64 bits: too many to guess, at ten a minute or at a million a second.
constexpr std::size_t kTokenBytesMin = 16;
constexpr std::size_t kSecretBytesMax = 512;
constexpr std::size_t kSecretFileBytesMax = 4096;  // a secret and generous white space

std::unexpected<Error> cannot_read(const std::filesystem::path& path) {
  return fail(ErrorKind::invalid, fmt::format("cannot read {}: {}", path.string(),
                                              std::generic_category().message(errno)));
}

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const noexcept { return fd_; }

 private:
  const int fd_;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The whole file, or as much of it as shows that it is too long.
Result<SecretFile> read_whole(const std::filesystem::path& path) {
  const File file(path);
  struct stat status{};
  if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0) return cannot_read(path);

  std::string content;
  std::array<char, kSecretFileBytesMax> chunk;
  while (content.size() <= kSecretFileBytesMax) {
    const ssize_t n = ::read(file.fd(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_read(path);
    if (n == 0) break;
    content.append(chunk.data(), static_cast<std::size_t>(n));
  }
  const bool world_readable = S_ISREG(status.st_mode) && (status.st_mode & S_IROTH) != 0;
  return SecretFile{.secret = std::move(content), .world_readable = world_readable};
}

Result<SecretFile> read_printable(const std::filesystem::path& path, std::size_t bytes_min) {
  SecretFile file = PENSTOCK_TRY(read_whole(path));
  const std::string_view token = trimmed(file.secret);
  const bool printable = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!printable || token.size() < bytes_min || token.size() > kSecretBytesMax) {
    return fail(ErrorKind::invalid,
                fmt::format("{} must hold one token of {} to {} printable ASCII characters without "
                            "spaces and nothing else (try: openssl rand -hex 32)",
                            path.string(), bytes_min, kSecretBytesMax));
  }
  file.secret = std::string(token);
  return file;
}

}  // namespace

Result<SecretFile> read_token_file(const std::filesystem::path& path) {
  return read_printable(path, kTokenBytesMin);
}

Result<SecretFile> read_key_file(const std::filesystem::path& path) {
  return read_printable(path, 1);
}

Result<SecretFile> read_password_file(const std::filesystem::path& path) {
  SecretFile file = PENSTOCK_TRY(read_whole(path));
  std::string& password = file.secret;
  if (password.ends_with('\n')) password.pop_back();
  if (password.ends_with('\r')) password.pop_back();
  constexpr std::string_view kNotInside("\n\0", 2);
  if (password.empty() || password.size() > kSecretBytesMax ||
      password.find_first_of(kNotInside) != password.npos) {
    return fail(
        ErrorKind::invalid,
        fmt::format("{} must hold one line of 1 to {} bytes, the password, and nothing else",
                    path.string(), kSecretBytesMax));
  }
  return file;
}

}  // namespace penstock::runtime
