#include "tool/bench/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace penstock::tool::bench {

namespace {

TEST(Schedule, spreads_a_second_evenly) {
  const Schedule schedule(4, 0, 1);
  EXPECT_EQ(schedule.due(0), Micros{0});
  EXPECT_EQ(schedule.due(1), Micros{250'000});
  EXPECT_EQ(schedule.due(4), Seconds{1});
  EXPECT_EQ(schedule.count_before(Seconds{1}), 4U);
}

TEST(Schedule, rounding_does_not_add_up) {
  const Schedule schedule(3, 0, 1);
  EXPECT_EQ(schedule.due(3 * 3'600), Seconds{3'600});
  EXPECT_EQ(Schedule(7'919, 0, 1).due(std::uint64_t{7'919} * 86'400), Seconds{86'400});
}

TEST(Schedule, the_threads_together_are_due_as_one_would_be) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const std::uint64_t rate = 1 + rng.below(5'000);
    const std::uint64_t threads = 1 + rng.below(8);
    const Micros end{static_cast<std::int64_t>(1 + rng.below(2'000'000))};
    std::vector<Micros> together;
    for (std::uint64_t index = 0; index < threads; ++index) {
      const Schedule part(rate, index, threads);
      const std::uint64_t count = part.count_before(end);
      for (std::uint64_t i = 0; i < count; ++i) together.push_back(part.due(i));
      ASSERT_GE(part.due(count), end) << "seed " << seed << ": one more would be too late";
    }
    std::ranges::sort(together);
    const Schedule one(rate, 0, 1);
    ASSERT_EQ(together.size(), one.count_before(end)) << "seed " << seed;
    for (std::size_t i = 0; i < together.size(); ++i) ASSERT_EQ(together[i], one.due(i));
    if (!together.empty()) {
      ASSERT_LT(together.back(), end);
    }
  }
}

TEST(Schedule, nothing_is_due_before_the_start) {
  EXPECT_EQ(Schedule(1'000, 0, 1).count_before(Micros{0}), 0U);
  EXPECT_EQ(Schedule(1'000, 0, 1).count_before(Micros{-1}), 0U);
}

}  // namespace

}  // namespace penstock::tool::bench
