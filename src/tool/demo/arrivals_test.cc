#include "tool/demo/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "tool/demo/test_instants.h"

namespace penstock::tool {
namespace {

constexpr Micros kSpan = Seconds{1};

TEST(Arrivals, the_first_stands_alone) { EXPECT_EQ(Arrivals(kSpan).most_with(at(0)), 1U); }

TEST(Arrivals, counts_a_sliding_span_and_not_a_calendar_second) {
  Arrivals arrivals(kSpan);
  for (int i = 0; i < 5; ++i) arrivals.add(at(990));
  EXPECT_EQ(arrivals.most_with(at(1'010)), 6U);
  EXPECT_EQ(arrivals.most_with(at(1'989)), 6U);
  EXPECT_EQ(arrivals.most_with(at(1'990)), 1U) << "a span later nothing is shared";
}

TEST(Arrivals, one_told_late_counts_where_it_belongs) {
  Arrivals arrivals(kSpan);
  arrivals.add(at(0));
  arrivals.add(at(900));
  arrivals.add(at(1'800));
  EXPECT_EQ(arrivals.most_with(at(890)), 3U) << "890, 900 and 1800, or 0, 890 and 900";
}

TEST(Arrivals, a_clock_set_back_starts_anew) {
  Arrivals arrivals(kSpan);
  for (int i = 0; i < 5; ++i) arrivals.add(at(3'600'000));
  arrivals.add(at(0));
  EXPECT_EQ(arrivals.most_with(at(1)), 2U);
}

TEST(Arrivals, says_the_same_as_counting_by_hand) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    Arrivals arrivals(kSpan);
    std::vector<Instant> all;
    std::int64_t now = 0;
    for (int i = 0; i < 200; ++i) {
      now += rng.between(0, 40);
      const Instant when = at(now - rng.between(0, 20));
      std::vector<Instant> with = all;
      with.push_back(when);
      std::ranges::sort(with);
      std::size_t most = 0;
      for (const Instant end : with) {
        if (end < when || end >= when + kSpan) continue;
        most = std::max(most, static_cast<std::size_t>(std::ranges::count_if(
                                  with, [&](Instant t) { return t > end - kSpan && t <= end; })));
      }
      ASSERT_EQ(arrivals.most_with(when), most) << round << " " << i;
      arrivals.add(when);
      all.push_back(when);
    }
  }
}

}  // namespace
}  // namespace penstock::tool
