// Exact cases of placement; the rules over random histories are in slot_rules_test.cc.
#include "core/slots/placement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "core/slots/slot_config.h"
#include "core/slots/test_entropy.h"

namespace penstock::core {
namespace {

// One pool, seen by one config.
struct Pool {
  PlacementQuery query{.max_delay = std::chrono::hours{1},
                       .max_per_window = 10,
                       .window_size = std::chrono::seconds{1}};
  FullRuns full{};
  std::map<WindowIndex, std::int64_t> counters{};
  int looks = 0;  // windows whose counter the search asked for

  std::optional<Placement> ask(std::int64_t requested_ms, std::uint64_t entropy = kLowest) {
    query.requested = from_epoch_millis(requested_ms);
    query.entropy = entropy;
    return place(query, full, [this](WindowIndex window) {
      ++looks;
      const auto at = counters.find(window);
      return at == counters.end() ? std::int64_t{0} : at->second;
    });
  }
};

TEST(Window, starts_at_the_epoch_aligned_floor) {
  EXPECT_EQ(window_of(from_epoch_millis(0), Millis{1'000}), 0);
  EXPECT_EQ(window_of(from_epoch_millis(999), Millis{1'000}), 0);
  EXPECT_EQ(window_of(from_epoch_millis(1'000), Millis{1'000}), 1);
  EXPECT_EQ(window_of(from_epoch_millis(13), Millis{7}), 1);
  EXPECT_EQ(window_of(from_epoch_millis(5), Millis{1}), 5);
  EXPECT_EQ(window_start(2, Millis{7'000}), from_epoch_millis(14'000));
  EXPECT_EQ(elapsed_in_window(from_epoch_millis(1'999), Millis{1'000}), Millis{999});
  // 7 s does not divide a day: the first window of 1970-01-02 begins 1 s before midnight.
  EXPECT_EQ(window_start(window_of(from_epoch_millis(86'400'000), Millis{7'000}), Millis{7'000}),
            from_epoch_millis(86'394'000));
}

TEST(FirstWindow, offers_the_share_of_what_is_left_of_it) {
  const auto share = [](std::int64_t max, std::int64_t size, std::int64_t requested) {
    return first_window_share(max, Millis{size}, from_epoch_millis(requested));
  };
  EXPECT_EQ(share(10, 1'000, 5'000), 10);
  EXPECT_EQ(share(10, 1'000, 5'001), 9);
  EXPECT_EQ(share(10, 1'000, 5'500), 5);
  EXPECT_EQ(share(10, 1'000, 5'501), 4);
  EXPECT_EQ(share(10, 1'000, 5'900), 1);
  EXPECT_EQ(share(10, 1'000, 5'901), 0);
  EXPECT_EQ(share(1, 1'000, 5'001), 0);
  EXPECT_EQ(share(7, 1, 123), 7);
  EXPECT_EQ(share(kMaxPerWindowMax, kWindowSizeMax.count(), 86'399'999), 0);
  EXPECT_EQ(share(kMaxPerWindowMax, kWindowSizeMax.count(), 1), 9'999'999);
}

TEST(Jitter, covers_its_range_evenly_and_never_leaves_it) {
  EXPECT_EQ(jitter(kLowest, Millis{250}, Millis{1'000}), Millis{250});
  EXPECT_EQ(jitter(kHighest, Millis{250}, Millis{1'000}), Millis{999});
  EXPECT_EQ(jitter(kHighest, Millis{999}, Millis{1'000}), Millis{999});
  EXPECT_EQ(jitter(kHighest, Millis{0}, Millis{1}), Millis{0});
  EXPECT_EQ(jitter(kHighest, Millis{0}, kWindowSizeMax), kWindowSizeMax - Millis{1});
  std::vector<int> hits(40);
  constexpr std::uint64_t kSteps = 4'000;
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    const Millis at = jitter(kHighest / kSteps * i, Millis{10}, Millis{50});
    ++hits.at(static_cast<std::size_t>(at.count() - 10));
  }
  for (const int count : hits) EXPECT_NEAR(count, 100, 1);
}

TEST(Place, takes_the_first_window_and_nothing_before_the_request) {
  Pool pool;
  const auto early = pool.ask(5'250, kLowest);
  ASSERT_TRUE(early);
  EXPECT_EQ(early->window, 5);
  EXPECT_EQ(early->window_start, from_epoch_millis(5'000));
  EXPECT_EQ(early->scheduled, from_epoch_millis(5'250));
  EXPECT_EQ(early->depth, 0);
  EXPECT_EQ(pool.ask(5'250, kHighest)->scheduled, from_epoch_millis(5'999));
}

TEST(Place, spreads_over_the_whole_of_a_later_window) {
  Pool pool;
  pool.counters = {{5, 10}, {6, 10}};
  const auto low = pool.ask(5'250, kLowest);
  ASSERT_TRUE(low);
  EXPECT_EQ(low->window, 7);
  EXPECT_EQ(low->scheduled, from_epoch_millis(7'000));
  EXPECT_EQ(low->depth, 2);
  EXPECT_EQ(pool.ask(5'250, kHighest)->scheduled, from_epoch_millis(7'999));
}

TEST(Place, compares_the_share_with_the_whole_counter) {
  Pool pool;
  pool.counters[5] = 4;
  EXPECT_EQ(pool.ask(5'500)->window, 5);  // share 5
  pool.counters[5] = 5;
  EXPECT_EQ(pool.ask(5'500)->window, 6);
  EXPECT_EQ(pool.ask(5'400)->window, 5);  // share 6: still room for who asks earlier
  EXPECT_FALSE(pool.full.contains(5));
}

TEST(Place, skips_a_first_window_whose_share_is_nothing) {
  Pool pool;
  pool.query.max_per_window = 1;
  EXPECT_EQ(pool.ask(5'000)->window, 5);
  EXPECT_EQ(pool.ask(5'001)->window, 6);
  EXPECT_FALSE(pool.full.contains(5));
}

TEST(Place, uses_windows_that_start_within_the_delay) {
  Pool pool;
  pool.counters = {{5, 10}, {6, 10}};
  pool.query.max_delay = Millis{1'749};
  EXPECT_FALSE(pool.ask(5'250));
  pool.query.max_delay = Millis{1'750};  // 7,000 = 5,250 + 1,750
  EXPECT_EQ(pool.ask(5'250)->window, 7);
}

TEST(Place, tries_only_the_first_window_without_delay) {
  Pool pool;
  pool.query.max_delay = Millis{0};
  pool.counters[5] = 4;
  EXPECT_EQ(pool.ask(5'500)->window, 5);
  pool.counters[5] = 5;
  EXPECT_FALSE(pool.ask(5'500));
  EXPECT_TRUE(pool.ask(5'000));
}

TEST(Place, learns_full_windows_and_does_not_ask_for_them_again) {
  Pool pool;
  for (WindowIndex window = 5; window < 105; ++window) pool.counters[window] = 10;
  EXPECT_EQ(pool.ask(5'000)->window, 105);
  EXPECT_EQ(pool.looks, 101);
  EXPECT_EQ(pool.full.runs(), 1u);
  EXPECT_EQ(pool.full.first_gap(5), 105);
  EXPECT_EQ(pool.ask(5'000)->window, 105);
  EXPECT_EQ(pool.looks, 102);
}

TEST(Place, learns_from_a_search_that_fails_too) {
  Pool pool;
  pool.query.max_delay = Millis{50'000};
  for (WindowIndex window = 5; window < 105; ++window) pool.counters[window] = 10;
  EXPECT_FALSE(pool.ask(5'000));
  EXPECT_EQ(pool.looks, 51);
  EXPECT_FALSE(pool.ask(5'000));
  EXPECT_EQ(pool.looks, 51);
}

TEST(Place, works_at_both_ends_of_time_and_size) {
  Pool pool;
  pool.query.window_size = kWindowSizeMin;
  EXPECT_EQ(pool.ask(0)->scheduled, kInstantMin);
  pool.query.window_size = kWindowSizeMax;
  pool.query.max_per_window = kMaxPerWindowMax;
  pool.query.max_delay = kMaxDelayMax;
  const std::int64_t last_ms = to_epoch_millis(kInstantEnd) - 1;
  pool.counters[window_of(from_epoch_millis(last_ms), kWindowSizeMax)] = kMaxPerWindowMax;
  const auto late = pool.ask(last_ms, kHighest);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->window_start, kInstantEnd);
  EXPECT_EQ(late->scheduled, kInstantEnd + kWindowSizeMax - Millis{1});
}

TEST(PlaceDeathTest, stops_on_a_query_that_no_caller_may_make) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto used = [](WindowIndex) { return std::int64_t{0}; };
  const PlacementQuery good{.max_per_window = 1, .window_size = Millis{1'000}};
  FullRuns full;
  PlacementQuery query = good;
  query.window_size = Millis{0};
  EXPECT_DEATH((void)place(query, full, used), "size > ");
  query = good;
  query.max_delay = Millis{-1};
  EXPECT_DEATH((void)place(query, full, used), "max_delay >= ");
  query = good;
  query.requested = Instant{Micros{-1'000}};
  EXPECT_DEATH((void)place(query, full, used), "requested >= ");
  query = good;
  query.requested = Instant{Micros{1}};
  EXPECT_DEATH((void)place(query, full, used), "cut_to_millis");
}

}  // namespace
}  // namespace penstock::core
