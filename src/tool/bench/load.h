// Runs a load to its end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/check.h"
#include "base/time.h"
#include "tool/bench/answers.h"
#include "tool/bench/histogram.h"
#include "tool/bench/requests.h"
#include "tool/bench/target.h"

namespace penstock::tool::bench {

// A load as it was asked for. A value.

// Hard caps: whatever is asked for, a load ends, and fits a machine.
inline constexpr std::int64_t kConnectionsMax = 10'000;
inline constexpr std::int64_t kThreadsMax = 64;
inline constexpr std::int64_t kPipelineMax = 1'000;
inline constexpr std::int64_t kRateMax = 10'000'000;
inline constexpr std::int64_t kRequestsMax = 1'000'000'000;
inline constexpr Millis kDurationMax = std::chrono::hours{1};

struct Plan {
  Target target;
  Protocol protocol = Protocol::http;
  RequestTemplate request;
  std::string hello = {};  // sent first on every connection (AUTH); one reply is expected
  std::uint64_t keys = 1;
  std::size_t connections = 64;
  std::size_t threads = 1;
  std::size_t pipeline = 1;    // requests under way on a connection
  std::uint64_t rate = 0;      // a second, all threads together; 0 = closed loop
  std::uint64_t requests = 0;  // at most; 0 = until the time is over
  Micros duration = Seconds{10};
  Micros timeout = Seconds{30};  // of an answer
  std::uint64_t seed = 1;

  // The share of thread `index` of something that all have together.
  std::uint64_t share(std::uint64_t whole, std::size_t index) const noexcept {
    return whole / threads + (index < whole % threads ? 1 : 0);
  }
};

// When the requests of an open loop are due. Each is due at a time of its own, whatever became of
// those before it; a latency that counts from there has the wait for a stalled server in it. Pure;
// safe on any thread.
class Schedule {
 public:
  // The requests of `threads` threads together are due `per_second` a second; those of thread
  // `index` are every `threads`-th.
  Schedule(std::uint64_t per_second, std::uint64_t index, std::uint64_t threads) noexcept
      : per_second_(per_second), index_(index), threads_(threads) {
    PENSTOCK_CHECK(per_second > 0);
    PENSTOCK_CHECK(index < threads);
  }

  // Since the start, of the thread's request `number`, from 0. Exact: rounding does not add up.
  Micros due(std::uint64_t number) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide overall = static_cast<Wide>(number) * threads_ + index_;
    return Micros{static_cast<std::int64_t>(overall * 1'000'000 / per_second_)};
  }

  // How many requests of this thread are due before `end`.
  std::uint64_t count_before(Micros end) const noexcept {
    if (end <= Micros::zero()) return 0;
    // Overall number n is due before `end` when n * 10^6 < end * rate.
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(end.count()) * per_second_;
    const Wide overall = (product + 999'999) / 1'000'000;  // numbers below this one
    if (overall <= index_) return 0;
    return static_cast<std::uint64_t>((overall - index_ + threads_ - 1) / threads_);
  }

 private:
  std::uint64_t per_second_;
  std::uint64_t index_;
  std::uint64_t threads_;
};

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
