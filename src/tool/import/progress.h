// What an import shows while it runs and when it is over. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tool/import/batch_answer.h"

namespace penstock::tool {

// Of lines that hold an event or a payment, by what became of them (LineFate).
struct ImportTally {
  std::uint64_t read = 0;
  std::uint64_t accepted = 0;
  std::uint64_t known = 0;
  std::uint64_t held = 0;
  std::uint64_t rejected = 0;
  std::uint64_t failed = 0;
  std::uint64_t retries = 0;                     // batches sent again after a passing failure
  std::map<std::string, std::uint64_t> reasons;  // of lines not taken; bounded, see count_reason
  std::string latest_scheduled_time;             // greatest of all answers; empty = none
  std::uint64_t through_line = 0;                // of the file; all up to it are answered

  void count(const LineAnswer& answer);
  void count_reason(const std::string& reason);
  std::uint64_t taken() const noexcept { return accepted + known + held; }
  std::uint64_t not_taken() const noexcept { return rejected + failed; }
  std::uint64_t unanswered() const noexcept { return read - taken() - not_taken(); }
};

struct ProgressView {
  std::uint64_t lines = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> bytes_total;  // unknown for pipes
  double seconds = 0;
  std::uint64_t bytes_before = 0;  // of `bytes`, passed over in no time
  std::string waiting_for;         // why nothing moves just now; empty = it moves
};

// One line of at most `width` columns, no newline.
std::string progress_line(const ProgressView& view, std::size_t width);

// Of slots.
std::string summary_text(const ImportTally& tally, double seconds);
std::string summary_json(const ImportTally& tally, double seconds);

// `before` is what an earlier run had got done; `seconds` are of this one.
struct PaymentsSummary {
  const ImportTally& tally;
  const ImportTally& before;
  double seconds = 0;
};
std::string payments_text(const PaymentsSummary& summary);
std::string payments_json(const PaymentsSummary& summary);

std::string with_thousands(std::uint64_t number);  // 1,234,567

}  // namespace penstock::tool
