// What a limit is, and what a decision about it says. Plain data; validated by make_limit.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace penstock::core {

enum class LimitType : std::uint8_t {
  token_bucket,
  gcra,
  sliding_window,          // exact log
  sliding_window_counter,  // two buckets
  fixed_window,            // aligned to the epoch
};

constexpr bool is_bucket(LimitType type) noexcept {
  return type == LimitType::token_bucket || type == LimitType::gcra;
}

// Tokens per time as an exact fraction in lowest terms, so that 0.1/s, 2.5/s and 7 per minute lose
// nothing.
struct Rate {
  std::int64_t tokens = 0;
  std::int64_t micros = 1;

  friend bool operator==(const Rate&, const Rate&) = default;
};

struct Limit {
  LimitType type = LimitType::token_bucket;
  std::int64_t capacity = 1;  // tokens: the burst of a bucket, the maximum of a window
  Rate refill = {};           // of the two buckets
  Seconds window{60};         // of the three windows; for buckets, how far back usage is counted

  friend bool operator==(const Limit&, const Limit&) = default;
};

inline constexpr std::int64_t kCapacityMax = 1'000'000'000'000;  // the contract's 10^12

// A cost can never be admitted: no wait is long enough.
inline constexpr Micros kNever = Micros{-1};

// What a limit says about one cost at one instant.
struct LimitStatus {
  bool admitted = false;
  std::int64_t limit = 0;      // the capacity it was judged by
  std::int64_t remaining = 0;  // whole tokens left, after the charge when there was one
  Micros retry_after{0};       // zero when admitted; else until exactly when the same cost would be
                               // admitted if nobody else came, or kNever
  Micros reset_after{0};       // until nothing is used
};

}  // namespace penstock::core
