#include "tool/demo/arrivals.h"

#include <algorithm>

namespace penstock::tool {

std::size_t Arrivals::most_with(Instant at) const {
  const auto after = std::ranges::upper_bound(times_, at);
  // Spans are told apart by the arrival they end with: `at` itself, then those that came after it.
  auto begin = std::ranges::upper_bound(times_, at - span_);
  auto most = static_cast<std::size_t>(after - begin) + 1;
  for (auto last = after; last != times_.end() && *last < at + span_; ++last) {
    begin = std::upper_bound(begin, last, *last - span_);
    most = std::max(most, static_cast<std::size_t>(last - begin) + 2);
  }
  return most;
}

void Arrivals::add(Instant at) {
  // So late no arrival is: the clock was set back, and what was before says nothing now.
  if (!times_.empty() && at + span_ < times_.back()) times_.clear();
  times_.insert(std::ranges::upper_bound(times_, at), at);
  while (times_.front() + 2 * span_ < times_.back()) times_.pop_front();
}

}  // namespace penstock::tool
