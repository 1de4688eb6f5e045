// The arrivals of the last moments, in the order of time, and how many of them share one stretch of
// it. They may be told a little out of order, as sockets are read. Pure; one thread.
#pragma once

#include <cstddef>
#include <deque>

#include "base/time.h"

namespace penstock::tool {

class Arrivals {
 public:
  explicit Arrivals(Micros span) noexcept : span_(span) {}

  // The most arrivals within any one span, if one came at `at` as well, counting that one.
  std::size_t most_with(Instant at) const;
  void add(Instant at);

 private:
  // Holds what shares a span with a late one: at most two spans of arrivals.
  std::deque<Instant> times_;  // ascending
  const Micros span_;
};

}  // namespace penstock::tool
