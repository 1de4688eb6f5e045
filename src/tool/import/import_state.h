// How far an import of payments came, in a small file beside the one that is imported, so that the
// next run goes on there. It says only what was answered: what it misses is sent once more, which
// is safe. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/clocks.h"
#include "tool/import/progress.h"

namespace penstock::tool {

// What is imported, and where to: an answer is worth nothing for another file or another daemon.
struct ImportSubject {
  std::string file;                 // its absolute path
  std::uint64_t bytes = 0;          // of the file
  std::int64_t modified_nanos = 0;  // of the file, since 1970
  std::string url;

  friend bool operator==(const ImportSubject&, const ImportSubject&) = default;
};

// Of a regular file; `invalid` for others: what comes through a pipe cannot be read again.
Result<ImportSubject> subject_of(const std::filesystem::path& file, const std::string& url);

struct ImportState {
  ImportSubject subject;
  ImportTally tally;                // up to tally.through_line
  std::uint64_t rejects_bytes = 0;  // of the file of rejected lines, at that moment
};

std::string encode_state(const ImportState& state);
Result<ImportState> decode_state(std::string_view text);

class StateFile {
 public:
  StateFile(std::filesystem::path path, ImportSubject subject)
      : path_(std::move(path)), subject_(std::move(subject)) {}

  // Nothing when there is none. One that cannot be read, or that is about something else, is
  // `invalid`, with what to do about it.
  Result<std::optional<ImportState>> load() const;

  // Keeps in mind how far it came, and writes it now and then. `sync_rejects` makes the file of
  // rejected lines complete first, and gives its size.
  Result<void> note(const ImportTally& tally,
                    const std::function<Result<std::uint64_t>()>& sync_rejects);
  // Writes what was noted and is not written yet.
  Result<void> save();
  // The import is complete.
  void remove() const;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  const std::filesystem::path path_;
  const ImportSubject subject_;
  const runtime::Stopwatch watch_;
  double saved_at_ = -1;
  std::uint64_t noted_line_ = 0;
  std::string unsaved_;
};

}  // namespace penstock::tool
