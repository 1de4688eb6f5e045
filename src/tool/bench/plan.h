// A load as it was asked for. A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "tool/bench/answers.h"
#include "tool/bench/requests.h"
#include "tool/bench/target.h"

namespace penstock::tool::bench {

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

}  // namespace penstock::tool::bench
