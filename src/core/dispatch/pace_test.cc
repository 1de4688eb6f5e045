#include "core/dispatch/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "base/test_instants.h"

namespace penstock::core {
namespace {

// The most that went in any second that begins with a hand-over.
std::int64_t most_in_a_second(const std::vector<Instant>& gone, Micros second = Seconds{1}) {
  std::int64_t most = 0;
  for (std::size_t first = 0, last = 0; last < gone.size(); ++last) {
    while (gone[last] - gone[first] >= second) ++first;
    most = std::max(most, static_cast<std::int64_t>(last - first + 1));
  }
  return most;
}

TEST(Pace, without_a_limit_holds_nothing_up) {
  Pace pace(std::nullopt, kStart);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pace.next(kStart), kStart);
    pace.record(kStart);
  }
}

TEST(Pace, waits_out_the_second_of_whoever_had_the_turn_before) {
  const Pace pace(PaceLimit{.per_second = 50, .burst = 5}, kStart);
  EXPECT_EQ(pace.next(kStart), kStart + kPaceSpan);
  EXPECT_EQ(pace.next(kStart + Seconds{5}), kStart + Seconds{5});
}

TEST(Pace, bounds_what_goes_back_to_back) {
  Pace pace(PaceLimit{.per_second = 100, .burst = 4}, kStart);
  const Instant now = kStart + Seconds{2};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(pace.next(now), now);
    pace.record(now);
  }
  EXPECT_EQ(pace.next(now), now + kPaceSpan / 100);
}

TEST(Pace, never_takes_the_burst_on_top) {
  Pace pace(PaceLimit{.per_second = 10, .burst = 1'000}, kStart);
  Instant now = kStart + Seconds{2};
  std::vector<Instant> gone;
  for (int i = 0; i < 25; ++i) {
    now = pace.next(now);
    pace.record(now);
    gone.push_back(now);
  }
  EXPECT_EQ(most_in_a_second(gone), 10);
  EXPECT_EQ(gone[9], kStart + Seconds{2});
  EXPECT_EQ(gone[10], kStart + Seconds{2} + kPaceSpan);
}

TEST(Pace, holds_in_every_sliding_second_and_uses_nearly_all_of_it) {
  Rng rng(1);
  for (const std::int64_t per_second : {1, 7, 50, 500, 5'000}) {
    for (const std::int64_t burst : {std::int64_t{1}, default_burst(per_second), per_second}) {
      Pace pace(PaceLimit{.per_second = per_second, .burst = burst}, kStart);
      Instant now = kStart;
      std::vector<Instant> gone;
      while (now < kStart + Seconds{12}) {
        // A dispatcher that wakes a little late each time.
        now = pace.next(now + Micros{rng.between(0, 300)});
        pace.record(now);
        gone.push_back(now);
      }
      EXPECT_LE(most_in_a_second(gone), per_second);
      EXPECT_LE(most_in_a_second(gone, kPaceSpan), per_second);
      if (burst == 1 && per_second > 500) continue;  // late by more than an interval each time
      const double seconds = std::chrono::duration<double>(gone.back() - gone.front()).count();
      EXPECT_GE(static_cast<double>(gone.size()) / seconds, 0.98 * static_cast<double>(per_second))
          << per_second << " burst " << burst;
    }
  }
}

TEST(Pace, counts_what_went_before_a_change) {
  Pace pace(PaceLimit{.per_second = 100, .burst = 100}, kStart);
  const Instant now = kStart + Seconds{2};
  for (int i = 0; i < 60; ++i) pace.record(now);
  pace.set_limit(PaceLimit{.per_second = 50, .burst = 50});
  EXPECT_EQ(pace.next(now), now + kPaceSpan);
  pace.set_limit(PaceLimit{.per_second = 61, .burst = 61});
  EXPECT_EQ(pace.next(now), now);
  pace.set_limit(std::nullopt);
  EXPECT_EQ(pace.next(now), now);
}

TEST(Pace, holds_through_random_changes_for_the_larger_of_both_limits) {
  Rng rng(2);
  Pace pace(PaceLimit{.per_second = 40, .burst = 40}, kStart);
  Instant now = kStart;
  std::vector<Instant> gone;
  for (int i = 0; i < 20'000; ++i) {
    if (rng.below(50) == 0) {
      pace.set_limit(PaceLimit{.per_second = rng.between(20, 40), .burst = rng.between(1, 60)});
    }
    now = pace.next(now + Micros{rng.between(0, 2'000)});
    pace.record(now);
    gone.push_back(now);
  }
  EXPECT_LE(most_in_a_second(gone), 40);
}

TEST(Pace, forgets_what_did_not_go_after_all) {
  const Instant start = from_epoch_millis(1'000'000);
  Pace pace(PaceLimit{.per_second = 3, .burst = 3}, start);
  Instant now = start + Seconds{5};
  for (int i = 0; i < 3; ++i) pace.record(now + Micros{i});
  EXPECT_GE(pace.next(now + Millis{10}), now + kPaceSpan);
  pace.take_back(now + Micros{1});
  pace.take_back(now + Micros{7});  // was never recorded
  EXPECT_LT(pace.next(now + Millis{500}), now + Millis{510});
  pace.record(pace.next(now + Millis{500}));
  EXPECT_GE(pace.next(now + Millis{600}), now + kPaceSpan);
}

}  // namespace
}  // namespace penstock::core
