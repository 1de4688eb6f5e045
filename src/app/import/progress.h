// What an import shows while it runs and when it is over. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace penstock::app {

struct ImportTally {
  std::uint64_t read = 0;      // lines that hold an event
  std::uint64_t assigned = 0;  // new or known before: the daemon answers both alike
  std::uint64_t failed = 0;
  std::uint64_t retries = 0;                     // batches sent again after a passing failure
  std::map<std::string, std::uint64_t> reasons;  // of failed lines; bounded, see count_reason
  std::string latest_scheduled_time;             // greatest of all answers; empty = none

  void count_reason(const std::string& reason);
  std::uint64_t unanswered() const noexcept { return read - assigned - failed; }
};

struct ProgressView {
  std::uint64_t lines = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> bytes_total;  // unknown for pipes
  double seconds = 0;
  std::string waiting_for;  // why nothing moves just now; empty = it moves
};

// One line of at most `width` columns, no newline.
std::string progress_line(const ProgressView& view, std::size_t width);

std::string summary_text(const ImportTally& tally, double seconds);
std::string summary_json(const ImportTally& tally, double seconds);

std::string with_thousands(std::uint64_t number);  // 1,234,567

}  // namespace penstock::app
