// What a load has counted. One thread at a time; threads have one each and add them up.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tool/bench/answers.h"
#include "tool/bench/histogram.h"

namespace penstock::tool::bench {

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
