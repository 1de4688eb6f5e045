#include "tool/demo/bookings.h"

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

Bookings::Bookings(const BookingRules& rules)
    : rules_(rules),
      all_(Seconds{1} - rules.tolerance),
      admitted_(Seconds{1} - rules.tolerance),
      rng_(rules.seed) {}

Booking Bookings::receive(std::string_view key, Instant at) {
  ++counts_.requests;
  counts_.busiest_second = std::max<std::uint64_t>(counts_.busiest_second, all_.most_with(at));
  all_.add(at);
  counts_.first = std::min(counts_.first.value_or(at), at);
  counts_.last = std::max(counts_.last.value_or(at), at);

  Booking booking{.outcome = judge(key, at)};
  switch (booking.outcome) {
    case BookingOutcome::booked:
      ++counts_.booked;
      numbers_.emplace(key, counts_.booked);
      break;
    case BookingOutcome::duplicate:
      ++counts_.duplicates;
      break;
    case BookingOutcome::refused:
      ++counts_.refused;
      return booking;
    case BookingOutcome::failed:
    case BookingOutcome::full:
      ++counts_.failed;
      return booking;
  }
  booking.number = numbers_.find(key)->second;
  booking.lost = chance(rules_.lose_percent);
  counts_.lost += booking.lost ? 1 : 0;
  return booking;
}

BookingOutcome Bookings::judge(std::string_view key, Instant at) {
  if (admitted_.most_with(at) > rules_.max_per_second) return BookingOutcome::refused;
  admitted_.add(at);
  if (chance(rules_.fail_percent)) return BookingOutcome::failed;
  if (numbers_.contains(key)) return BookingOutcome::duplicate;
  return numbers_.size() < rules_.keys_max ? BookingOutcome::booked : BookingOutcome::full;
}

}  // namespace penstock::tool
