// The books of a make-believe payment API: each key once, never more than so many requests in any
// second, and a count of everything. Pure but for the chance it is seeded with; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/rng.h"
#include "base/time.h"

namespace penstock::tool {

// The arrivals of the last moments, in the order of time, and how many of them share one stretch of
// it. They may be told a little out of order, as sockets are read. Pure; one thread.
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

struct BookingRules {
  std::uint64_t max_per_second = 50;
  // A second is judged shorter by this: what left in time may arrive together.
  Micros tolerance = Millis{10};
  std::uint64_t fail_percent = 0;  // answered 500, not booked
  std::uint64_t lose_percent = 0;  // handled, but the answer gets lost
  // About 150 bytes each; beyond it nothing new is booked.
  std::uint64_t keys_max = 5'000'000;
  std::uint64_t seed = 1;
};

enum class BookingOutcome {
  booked,
  duplicate,  // was booked before
  refused,    // above the pace
  failed,
  full,
};

struct Booking {
  BookingOutcome outcome = BookingOutcome::booked;
  std::uint64_t number = 0;  // of the booking, when there is one
  bool lost = false;         // the client gets no answer
};

struct BookingCounts {
  std::uint64_t requests = 0;  // all that carry a key
  std::uint64_t booked = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;
  std::uint64_t lost = 0;
  std::uint64_t busiest_second = 0;  // of all requests, refused ones too
  std::optional<Instant> first;
  std::optional<Instant> last;
};

class Bookings {
 public:
  explicit Bookings(const BookingRules& rules);

  Booking receive(std::string_view key, Instant at);

  const BookingCounts& counts() const noexcept { return counts_; }
  const BookingRules& rules() const noexcept { return rules_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept {
      return std::hash<std::string_view>()(key);
    }
  };

  BookingOutcome judge(std::string_view key, Instant at);
  bool chance(std::uint64_t percent) { return percent > 0 && rng_.below(100) < percent; }

  const BookingRules rules_;
  Arrivals all_;
  Arrivals admitted_;  // what refused requests cannot fill up
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> numbers_;  // by key
  BookingCounts counts_;
  Rng rng_;
};

}  // namespace penstock::tool
