#include "engine/rocksdb/seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "engine/rocksdb/bytes.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/read_only.h"

namespace penstock::store::embedded {
namespace {

constexpr std::string_view kSealForm = "penstock seal 1\nepoch {}\nsequence {}\nlog {}\n";
constexpr std::size_t kSealBytesMax = 256;

// FNV-1a: against flipped bits, not against people.
std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 14'695'981'039'346'656'037U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return sum;
}

// Takes `word`, a number and the end of the line off the front of `text`.
bool take_line(std::string_view& text, std::string_view word, std::uint64_t& number) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '\n') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

std::string log_name(std::uint64_t number) { return fmt::format("{:06}.log", number); }

std::string way_out(const std::filesystem::path& dir, std::string_view file) {
  return fmt::format(
      "put {} back as it was, or restore the folder from a backup; "
      "`penstock verify {} --accept-loss` goes on without it",
      file, dir.string());
}

std::unexpected<Error> refuse(const std::filesystem::path& dir, std::string_view what,
                              std::string_view file) {
  return fail(ErrorKind::corrupt,
              fmt::format("data folder {} {}: {}", dir.string(), what, way_out(dir, file)));
}

// RocksDB tells a closed log that is missing or cut by its number.
std::optional<std::uint64_t> log_of(std::string_view message) {
  constexpr std::string_view kBefore = "log number: ";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  const char* const digits = message.data() + at + kBefore.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits, message.data() + message.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

Result<void> put_file(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path dir = file.parent_path();
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return std::unexpected(translate(errno, dir, "write the seal"));
  int problem = 0;
  const ssize_t written = write(fd, text.data(), text.size());
  if (written < 0) {
    problem = errno;
  } else if (static_cast<std::size_t>(written) != text.size()) {
    problem = ENOSPC;
  } else if (fsync(fd) != 0) {
    problem = errno;
  }
  close(fd);
  if (problem == 0) return {};
  unlink(file.c_str());
  return std::unexpected(translate(problem, dir, "write the seal"));
}

Result<void> sync_folder(const std::filesystem::path& dir) {
  const int fd = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(translate(errno, dir, "write the seal"));
  const int problem = fsync(fd) != 0 ? errno : 0;
  close(fd);
  if (problem != 0) return std::unexpected(translate(problem, dir, "write the seal"));
  return {};
}

}  // namespace

std::string encode_seal(const Seal& seal) {
  std::string text = fmt::format(kSealForm, seal.epoch, seal.sequence, seal.log);
  const std::uint64_t sum = sum_of(text);
  return text += fmt::format("sum {}\n", sum);
}

Result<Seal> decode_seal(std::string_view text) {
  Seal seal;
  std::string_view rest = text;
  std::uint64_t version = 0;
  std::uint64_t sum = 0;
  if (take_line(rest, "penstock seal ", version) && version == 1 &&
      take_line(rest, "epoch ", seal.epoch) && take_line(rest, "sequence ", seal.sequence) &&
      take_line(rest, "log ", seal.log)) {
    const std::uint64_t expected = sum_of(text.substr(0, text.size() - rest.size()));
    if (take_line(rest, "sum ", sum) && rest.empty() && sum == expected) return seal;
  }
  return fail(ErrorKind::corrupt, "the file SEAL is damaged");
}

std::string encode_epoch(std::uint64_t epoch) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, epoch);
  return out;
}

Result<std::uint64_t> decode_epoch(std::string_view value) {
  ByteReader reader("the epoch of the seal", value);
  reader.format();
  const auto epoch = reader.number<std::uint64_t>();
  return reader.done(epoch);
}

Result<std::optional<Seal>> read_seal(const std::filesystem::path& dir) {
  const int fd = open((dir / kSealName).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) return std::unexpected(translate(errno, dir, "read the file SEAL"));
  std::array<char, kSealBytesMax> text;
  const ssize_t size = read(fd, text.data(), text.size());
  const int problem = errno;
  close(fd);
  if (size < 0) return std::unexpected(translate(problem, dir, "read the file SEAL"));
  const Result<Seal> seal = decode_seal({text.data(), static_cast<std::size_t>(size)});
  if (!seal) return refuse(dir, "has a damaged file SEAL", kSealName);
  return *seal;
}

Result<void> write_seal(const std::filesystem::path& dir, const Seal& seal) {
  const std::filesystem::path fresh = dir / "SEAL.new";
  PENSTOCK_TRY(put_file(fresh, encode_seal(seal)));
  if (rename(fresh.c_str(), (dir / kSealName).c_str()) != 0) {
    return std::unexpected(translate(errno, dir, "write the seal"));
  }
  return sync_folder(dir);
}

Result<void> compare_seal(const std::filesystem::path& dir, const std::optional<Seal>& seal,
                          const DatabaseEnd& end) {
  if (!seal) {
    if (!end.epoch) return {};  // of a version that did not seal, or new
    return refuse(dir,
                  "has lost its file SEAL, without which a lost log of writes would not be noticed",
                  kSealName);
  }
  if (seal->sequence == 0) return {};  // its maker crashed before the database was sealed
  if (end.epoch != seal->epoch) {
    return refuse(dir, "has a file SEAL that does not belong to its database", kSealName);
  }
  // What tables hold cannot be lost with a log. Their last number may be lower all the same: a
  // record that came and went between two flushes is in no table.
  if (end.sequence >= seal->sequence || seal->log < end.oldest_log) return {};
  const std::string log = log_name(seal->log);
  std::error_code ignored;
  const bool there = std::filesystem::exists(dir / log, ignored);
  return refuse(dir,
                fmt::format("has lost writes that were acknowledged: they reached to number {} in "
                            "{}, {}, and now end at number {}",
                            seal->sequence, log, there ? "which is cut short" : "which is missing",
                            end.sequence),
                log);
}

Result<void> check_seal(const std::filesystem::path& dir, rocksdb::Env* env) {
  const std::optional<Seal> seal = PENSTOCK_TRY(read_seal(dir));
  const std::array families = {Family::meta};
  Result<ReadOnly> database = ReadOnly::open(dir, env, families);
  if (!database) {
    if (database.error().kind != ErrorKind::corrupt) return std::unexpected(database.error());
    const std::optional<std::uint64_t> log = log_of(database.error().what);
    if (!log) {
      return fail(
          ErrorKind::corrupt,
          fmt::format("{}; restore the folder from a backup; if a log is damaged, "
                      "`penstock verify {} --accept-loss` goes on with what it holds before",
                      database.error().what, dir.string()));
    }
    return refuse(dir,
                  fmt::format("has lost writes that were acknowledged: {} is missing or cut short",
                              log_name(*log)),
                  log_name(*log));
  }
  const DatabaseEnd end = PENSTOCK_TRY(database->end());
  return compare_seal(dir, seal, end);
}

}  // namespace penstock::store::embedded
