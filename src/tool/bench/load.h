// Runs a load to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "tool/bench/plan.h"
#include "tool/bench/tally.h"

namespace penstock::tool::bench {

struct LoadProgress {
  double seconds = 0;
  std::uint64_t answers = 0;
  std::uint64_t errors = 0;
};

struct LoadOutcome {
  Tally tally;
  double seconds = 0;  // from the first request to the last answer, or to the end of sending
};

// `interrupted` ends it soon, with what it has by then. `on_progress` is called on this thread, a
// few times a second.
LoadOutcome run_load(const Plan& plan, const std::atomic<bool>& interrupted,
                     const std::function<void(const LoadProgress&)>& on_progress);

}  // namespace penstock::tool::bench
