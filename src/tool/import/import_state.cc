#include "tool/import/import_state.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "cli/output_file.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::int64_t kVersion = 1;
// What a crash costs at most is the lines of this time, sent once more.
constexpr double kSaveEverySeconds = 0.5;
constexpr std::size_t kStateBytesMax = 1024 * 1024;  // twenty reasons and a path: far below

using wire::JsonType;
using wire::JsonValue;

struct Count {
  const char* name;
  std::uint64_t ImportTally::* member;
};
constexpr std::array<Count, 7> kCounts{{{"line", &ImportTally::through_line},
                                        {"accepted", &ImportTally::accepted},
                                        {"alreadyKnown", &ImportTally::known},
                                        {"held", &ImportTally::held},
                                        {"rejected", &ImportTally::rejected},
                                        {"failed", &ImportTally::failed},
                                        {"batchesRetried", &ImportTally::retries}}};

Error not_a_state() {
  return {.kind = ErrorKind::invalid, .what = "is not the state of an import"};
}

Result<std::uint64_t> count_of(JsonValue object, std::string_view name) {
  const JsonValue member = object.find(name);
  if (!member || member.type() != JsonType::number) return std::unexpected(not_a_state());
  const std::optional<std::int64_t> value = member.integer();
  if (!value || *value < 0) return std::unexpected(not_a_state());
  return static_cast<std::uint64_t>(*value);
}

Result<std::string> text_of(JsonValue object, std::string_view name) {
  const JsonValue member = object.find(name);
  if (!member || member.type() != JsonType::string) return std::unexpected(not_a_state());
  return std::string(member.string());
}

Result<void> read_reasons(JsonValue list, ImportTally& tally) {
  if (!list || list.type() != JsonType::array) return std::unexpected(not_a_state());
  for (JsonValue each = list.first(); each; each = each.next()) {
    if (each.type() != JsonType::object) return std::unexpected(not_a_state());
    std::string reason = PENSTOCK_TRY(text_of(each, "reason"));
    const std::uint64_t lines = PENSTOCK_TRY(count_of(each, "lines"));
    tally.reasons[std::move(reason)] = lines;
  }
  return {};
}

}  // namespace

Result<ImportSubject> subject_of(const std::filesystem::path& file, const std::string& url) {
  std::error_code error;
  struct stat status{};
  if (!std::filesystem::is_regular_file(file, error) || ::stat(file.c_str(), &status) != 0) {
    return fail(ErrorKind::invalid, fmt::format("{} is not a regular file", file.string()));
  }
  return ImportSubject{
      .file = std::filesystem::absolute(file, error).lexically_normal().string(),
      .bytes = static_cast<std::uint64_t>(status.st_size),
      .modified_nanos = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
      .url = url};
}

std::string encode_state(const ImportState& state) {
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  wire::JsonWriter out;
  out.begin_object()
      .member("version", kVersion)
      .member("file", state.subject.file)
      .member("bytes", number(state.subject.bytes))
      .member("modifiedNanos", state.subject.modified_nanos)
      .member("url", state.subject.url)
      .member("rejectsBytes", number(state.rejects_bytes));
  for (const Count& count : kCounts) out.member(count.name, number(state.tally.*count.member));
  out.key("reasons").begin_array();
  for (const auto& [reason, lines] : state.tally.reasons) {
    out.begin_object().member("reason", reason).member("lines", number(lines)).end_object();
  }
  out.end_array().end_object();
  return std::move(out).take() + "\n";
}

Result<ImportState> decode_state(std::string_view text) {
  const Result<wire::JsonDocument> document = wire::parse_json(text);
  if (!document || document->root().type() != JsonType::object) {
    return std::unexpected(not_a_state());
  }
  const JsonValue root = document->root();
  const std::uint64_t version = PENSTOCK_TRY(count_of(root, "version"));
  if (version != kVersion) {
    return fail(ErrorKind::invalid, "was written by another version of penstock");
  }
  ImportState state;
  for (const auto& [name, into] :
       {std::pair{"file", &state.subject.file}, {"url", &state.subject.url}}) {
    *into = PENSTOCK_TRY(text_of(root, name));
  }
  state.subject.bytes = PENSTOCK_TRY(count_of(root, "bytes"));
  const std::uint64_t modified = PENSTOCK_TRY(count_of(root, "modifiedNanos"));
  state.subject.modified_nanos = static_cast<std::int64_t>(modified);
  state.rejects_bytes = PENSTOCK_TRY(count_of(root, "rejectsBytes"));
  for (const Count& count : kCounts) {
    state.tally.*count.member = PENSTOCK_TRY(count_of(root, count.name));
  }
  PENSTOCK_TRY(read_reasons(root.find("reasons"), state.tally));
  state.tally.read = state.tally.taken() + state.tally.not_taken();
  return state;
}

Result<std::optional<ImportState>> StateFile::load() const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    if (std::error_code error; !std::filesystem::exists(path_, error)) return std::nullopt;
    return fail(ErrorKind::invalid, fmt::format("cannot read {}", path_.string()));
  }
  std::string text(kStateBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  constexpr std::string_view kWayOut =
      "remove it or give --no-resume to start at the first line: payments that are known cost "
      "nothing";
  Result<ImportState> state = decode_state(text);
  if (!state) {
    return fail(ErrorKind::invalid,
                fmt::format("{} {}; {}", path_.string(), state.error().what, kWayOut));
  }
  std::string_view other;
  if (state->subject.url != subject_.url) {
    other = "an import into another daemon";
  } else if (state->subject != subject_) {
    other = "a file that was different";
  }
  if (!other.empty()) {
    return fail(ErrorKind::invalid,
                fmt::format("{} is about {}; {}", path_.string(), other, kWayOut));
  }
  return std::optional(*std::move(state));
}

Result<void> StateFile::note(const ImportTally& tally,
                             const std::function<Result<std::uint64_t>()>& sync_rejects) {
  if (tally.through_line == noted_line_) return {};
  const std::uint64_t rejects = PENSTOCK_TRY(sync_rejects());
  noted_line_ = tally.through_line;
  unsaved_ = encode_state({.subject = subject_, .tally = tally, .rejects_bytes = rejects});
  return watch_.seconds() - saved_at_ < kSaveEverySeconds ? Result<void>() : save();
}

Result<void> StateFile::save() {
  if (unsaved_.empty()) return {};
  saved_at_ = watch_.seconds();
  // Whole or not at all: written beside, then renamed.
  std::filesystem::path beside = path_;
  beside += ".new";
  cli::OutputFile file = PENSTOCK_TRY(cli::OutputFile::open(beside));
  PENSTOCK_TRY(file.write(unsaved_));
  PENSTOCK_TRY(file.close());
  std::error_code error;
  std::filesystem::rename(beside, path_, error);
  if (error) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot write {}: {}", path_.string(), error.message()));
  }
  unsaved_.clear();
  return {};
}

void StateFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace penstock::tool
