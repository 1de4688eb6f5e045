// Counts latencies in bounded memory: every microsecond apart up to 256 of them, then 128 steps to
// each doubling, so that what is read off is at most 1/128 above what was recorded. 26 KiB,
// whatever is counted. One thread at a time; threads have one each and add them up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "tool/bench/answers.h"

namespace penstock::tool::bench {

class LatencyHistogram {
 public:
  static constexpr Micros kMax{(std::int64_t{1} << 32) - 1};  // 71 minutes: longer than any run

  // Below zero counts as zero, above kMax as kMax.
  void record(Micros latency) noexcept;
  void add(const LatencyHistogram& other) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  Micros min() const noexcept { return Micros{count_ == 0 ? 0 : min_}; }
  Micros max() const noexcept { return Micros{max_}; }
  double mean_micros() const noexcept;
  // The least value with at least this share of all at or below it, `share` from 0 to 1: the end of
  // its step, and never above max(). Zero when nothing was recorded.
  Micros at(double share) const noexcept;

  // Of the steps, for tests: which one a value counts in, and the largest value that does.
  static std::size_t step_of(std::uint64_t micros) noexcept;
  static std::uint64_t end_of(std::size_t step) noexcept;
  static constexpr std::size_t kSteps = 256 + 24 * 128;  // 24 doublings from 2^8 to 2^32

 private:
  std::array<std::uint64_t, kSteps> counts_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::int64_t min_ = kMax.count();
  std::int64_t max_ = 0;
};

// What a load has counted. One thread at a time; threads have one each and add them up.
struct Tally {
  LatencyHistogram latencies;  // of all that were due: one without an answer by what it waited
  std::array<std::uint64_t, kCodes> codes{};  // answers by status, or as enum kResp…
  std::uint64_t answers = 0;
  std::uint64_t good_entries = 0;  // of batches

  std::uint64_t connect_errors = 0;
  std::uint64_t lost = 0;        // sent, and the connection broke
  std::uint64_t timed_out = 0;   // sent, and no answer within the time
  std::uint64_t malformed = 0;   // answers that could not be read
  std::uint64_t unfinished = 0;  // sent, and the run ended
  std::uint64_t unsent = 0;      // of an open loop: due, and no connection was free until the end

  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  // The first answer that is no decision, or what was wrong with it.
  std::string first_problem = {};
  int first_problem_code = 0;  // 0 = it could not be read

  void add(const Tally& other);
  std::uint64_t errors() const noexcept {
    return connect_errors + lost + timed_out + malformed + unfinished + unsent;
  }
};

}  // namespace penstock::tool::bench
