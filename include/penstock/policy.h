// Which limit holds for which keys. Plain data; checked when it is given to a Limiter.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace penstock {
inline namespace v0 {

enum class Algorithm : std::uint8_t {
  token_bucket,            // `capacity` at once, then as fast as it refills
  gcra,                    // the same bound, known by the name of its formula
  sliding_window,          // at most `capacity` in any `window`; exact, remembers each charge
  sliding_window_counter,  // nearly that, from two counters
  fixed_window,            // at most `capacity` in each `window` since the epoch
};

// How fast the two buckets refill: `tokens` every `period`, or exactly the decimal number in
// `per_second` when that is set ("0.1", "2.5"; up to nine decimals). At most 10^9 a second.
struct Refill {
  std::int64_t tokens = 10;
  std::chrono::seconds period{1};
  std::string per_second = {};
};

inline Refill refill_per_second(std::string decimal) {
  Refill refill;
  refill.per_second = std::move(decimal);
  return refill;
}

inline Refill refill_every(std::chrono::seconds period, std::int64_t tokens) {
  Refill refill;
  refill.tokens = tokens;
  refill.period = period;
  return refill;
}

struct Policy {
  // One key, or a pattern in which `*` stands for any run of characters. For a key counts the
  // policy of exactly that key, else the matching pattern with most literal characters (of equals
  // the lexicographically smaller), else the default. 1 to 512 bytes of UTF-8, no control
  // characters.
  std::string key = {};
  Algorithm algorithm = Algorithm::token_bucket;
  std::int64_t capacity = 100;      // 1 to 10^12: the burst of a bucket, the maximum of a window
  Refill refill = {};               // of the two buckets
  std::chrono::seconds window{60};  // of the three windows; 1 s to 366 days
  bool shadow = false;              // decides, never denies
};

}  // namespace v0
}  // namespace penstock
