#include "core/slots/full_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "base/rng.h"

namespace penstock::core {
namespace {

WindowIndex naive_first_gap(const std::set<WindowIndex>& full, WindowIndex from) {
  while (full.contains(from)) ++from;
  return from;
}

std::size_t naive_runs(const std::set<WindowIndex>& full) {
  std::size_t runs = 0;
  for (const WindowIndex window : full) runs += full.contains(window - 1) ? 0 : 1;
  return runs;
}

TEST(FullRuns, knows_nothing_at_first) {
  const FullRuns full;
  EXPECT_EQ(full.first_gap(0), 0);
  EXPECT_EQ(full.first_gap(-7), -7);
  EXPECT_FALSE(full.contains(0));
  EXPECT_EQ(full.runs(), 0u);
}

TEST(FullRuns, steps_over_a_run_from_any_of_its_windows) {
  FullRuns full;
  full.insert(10, 20);
  EXPECT_EQ(full.first_gap(9), 9);
  EXPECT_EQ(full.first_gap(10), 20);
  EXPECT_EQ(full.first_gap(19), 20);
  EXPECT_EQ(full.first_gap(20), 20);
  EXPECT_FALSE(full.contains(9));
  EXPECT_TRUE(full.contains(10));
  EXPECT_TRUE(full.contains(19));
  EXPECT_FALSE(full.contains(20));
}

TEST(FullRuns, joins_neighbours_into_one_run) {
  FullRuns full;
  full.insert(5);
  full.insert(7);
  EXPECT_EQ(full.runs(), 2u);
  full.insert(6);
  EXPECT_EQ(full.runs(), 1u);
  EXPECT_EQ(full.first_gap(5), 8);
  full.insert(8);  // at the end
  full.insert(4);  // at the start
  EXPECT_EQ(full.runs(), 1u);
  EXPECT_EQ(full.first_gap(4), 9);
}

TEST(FullRuns, swallows_every_run_that_a_wide_one_covers_or_touches) {
  FullRuns full;
  for (const WindowIndex window : {2, 4, 6, 8, 10, 12}) full.insert(window);
  full.insert(5, 10);  // borders on 4 and 10
  EXPECT_EQ(full.runs(), 3u);
  EXPECT_EQ(full.first_gap(4), 11);
  EXPECT_EQ(full.first_gap(2), 3);
  EXPECT_EQ(full.first_gap(12), 13);
  full.insert(6, 8);  // known already
  EXPECT_EQ(full.runs(), 3u);
  EXPECT_EQ(full.first_gap(4), 11);
}

TEST(FullRuns, opens_a_window_that_was_given_back) {
  FullRuns full;
  full.insert(10, 20);
  full.erase(15);
  EXPECT_EQ(full.runs(), 2u);
  EXPECT_EQ(full.first_gap(10), 15);
  EXPECT_EQ(full.first_gap(16), 20);
  full.erase(10);  // the ends of a run
  full.erase(19);
  EXPECT_EQ(full.first_gap(10), 10);
  EXPECT_EQ(full.first_gap(11), 15);
  EXPECT_EQ(full.first_gap(16), 19);
  full.erase(9);  // not known: nothing happens
  full.erase(19);
  full.erase(15);
  EXPECT_EQ(full.runs(), 2u);
  full.insert(30);
  full.erase(30);
  EXPECT_EQ(full.runs(), 2u);
  full.clear();
  EXPECT_EQ(full.runs(), 0u);
  EXPECT_EQ(full.first_gap(11), 11);
}

TEST(FullRuns, agrees_with_a_set_on_random_histories) {
  constexpr WindowIndex kSpan = 60;  // narrow, so that runs join and split all the time
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FullRuns full;
    std::set<WindowIndex> model;
    for (int step = 0; step < 100; ++step) {
      const WindowIndex window = rng.between(-kSpan, kSpan);
      const std::uint64_t choice = rng.below(100);
      if (choice < 50) {
        full.insert(window);
        model.insert(window);
      } else if (choice < 60) {
        const WindowIndex end = window + rng.between(1, 12);
        full.insert(window, end);
        for (WindowIndex each = window; each < end; ++each) model.insert(each);
      } else if (choice < 99) {
        full.erase(window);
        model.erase(window);
      } else {
        full.clear();
        model.clear();
      }
      const WindowIndex from = rng.between(-kSpan - 2, kSpan + 15);
      ASSERT_EQ(full.first_gap(from), naive_first_gap(model, from)) << "step " << step;
      ASSERT_EQ(full.contains(from), model.contains(from)) << "step " << step;
      ASSERT_EQ(full.runs(), naive_runs(model)) << "step " << step;
    }
    for (WindowIndex from = -kSpan - 2; from < kSpan + 15; ++from) {
      ASSERT_EQ(full.first_gap(from), naive_first_gap(model, from)) << "from " << from;
    }
  }
}

TEST(FullRuns, forgets_the_shortest_run_at_hand_past_its_bound) {
  FullRuns full(4);
  full.insert(100, 110);
  full.insert(200, 201);
  full.insert(300, 305);
  full.insert(400, 402);
  EXPECT_EQ(full.runs(), 4u);
  full.insert(500, 501);  // the hand stands at the start: looks at 100, 200, 300, 400
  EXPECT_EQ(full.runs(), 4u);
  EXPECT_FALSE(full.contains(200));
  full.insert(600, 601);  // looks at 500, 600, 100, 300
  EXPECT_EQ(full.runs(), 4u);
  EXPECT_FALSE(full.contains(500));
  for (const WindowIndex window : {100, 300, 400, 600}) EXPECT_TRUE(full.contains(window));
}

TEST(FullRuns, keeps_the_run_it_has_just_learnt) {
  FullRuns full(2);
  full.insert(100, 110);
  full.insert(200, 220);
  full.insert(50);
  EXPECT_TRUE(full.contains(50));
  EXPECT_FALSE(full.contains(100));
  EXPECT_TRUE(full.contains(200));
  FullRuns one(1);
  one.insert(100, 110);
  one.insert(50);
  EXPECT_TRUE(one.contains(50));
  EXPECT_EQ(one.runs(), 1u);
}

TEST(FullRuns, keeps_a_long_run_among_many_short_ones) {
  FullRuns full(10);
  full.insert(5'000, 6'000);
  Rng rng(1);
  for (int i = 0; i < 1'000; ++i) {
    full.insert(rng.between(0, 500) * 2);
    full.insert(rng.between(4'000, 500'000) * 2);
    ASSERT_EQ(full.first_gap(5'000), 6'000) << "insert " << i;
  }
  EXPECT_EQ(full.runs(), 10u);
}

TEST(FullRuns, goes_round_all_runs_when_it_forgets) {
  FullRuns full(8);
  for (WindowIndex window = 0; window < 80; window += 10) full.insert(window);
  // Four looks each, and all are equally short: the first of every four goes.
  full.insert(80);
  EXPECT_FALSE(full.contains(0));
  full.insert(90);
  EXPECT_FALSE(full.contains(40));
  full.insert(100);  // 80, 90, 100 and round to 10
  EXPECT_FALSE(full.contains(80));
  full.insert(110);
  EXPECT_FALSE(full.contains(20));
  for (const WindowIndex window : {10, 30, 50, 60, 70, 90, 100, 110}) {
    EXPECT_TRUE(full.contains(window)) << window;
  }
}

TEST(FullRuns, stays_bounded_when_a_run_is_split) {
  FullRuns full(2);
  full.insert(0, 10);
  full.insert(20, 30);
  full.erase(3);  // [0, 3) [4, 10) [20, 30): one too many
  EXPECT_EQ(full.runs(), 2u);
  EXPECT_EQ(full.first_gap(0), 0);
  EXPECT_EQ(full.first_gap(4), 10);
  EXPECT_EQ(full.first_gap(20), 30);
}

TEST(FullRuns, never_claims_too_much_at_any_bound) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::size_t runs_max = 1 + rng.below(6);
    FullRuns full(runs_max);
    std::set<WindowIndex> model;
    for (int step = 0; step < 60; ++step) {
      const WindowIndex window = rng.between(0, 60);
      if (rng.below(4) > 0) {
        const WindowIndex end = window + rng.between(1, 3);
        full.insert(window, end);
        for (WindowIndex each = window; each < end; ++each) model.insert(each);
      } else {
        full.erase(window);
        model.erase(window);
      }
      ASSERT_LE(full.runs(), runs_max) << "step " << step;
      for (WindowIndex each = -1; each < 65; ++each) {
        if (full.contains(each)) {
          ASSERT_TRUE(model.contains(each)) << "step " << step;
        }
      }
    }
  }
}

TEST(FullRunsDeathTest, stops_on_an_empty_run_or_no_room) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  FullRuns full;
  EXPECT_DEATH(full.insert(3, 3), "begin < end");
  EXPECT_DEATH(FullRuns(0), "runs_max > 0");
}

}  // namespace
}  // namespace penstock::core
