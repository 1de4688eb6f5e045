#include "core/slots/burst.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"
#include "core/slots/full_runs.h"

namespace penstock::core {
namespace {

constexpr Millis kSize = Seconds{4};
const Instant kWindowStart = from_epoch_millis(1'800'000'000'000);  // the start of a 4 s window

Burst plan(const BurstQuery& query, const std::map<WindowIndex, std::int64_t>& used) {
  BurstPlan plan(query);
  for (const auto& [window, count] : used) plan.add({window_start(window, kSize), count});
  return plan.finish();
}

BurstQuery query(Instant requested, std::int64_t count) {
  return {.requested = requested,
          .max_delay = std::chrono::hours{1},
          .max_per_window = 100,
          .window_size = kSize,
          .count = count};
}

TEST(BurstPlan, fills_empty_windows_from_the_requested_one_on) {
  const Burst burst = plan(query(kWindowStart, 250), {});
  EXPECT_EQ(burst.placed, 250);
  EXPECT_EQ(burst.windows_used, 3);
  EXPECT_EQ(burst.first, kWindowStart);
  EXPECT_EQ(burst.last, kWindowStart + 3 * kSize - Millis{1});
}

TEST(BurstPlan, offers_only_the_rest_of_the_window_asked_for) {
  const Burst burst = plan(query(kWindowStart + Seconds{3}, 26), {});
  EXPECT_EQ(burst.windows_used, 2);
  EXPECT_EQ(burst.first, kWindowStart + Seconds{3});
  EXPECT_EQ(burst.last, kWindowStart + 2 * kSize - Millis{1});
}

TEST(BurstPlan, passes_over_full_windows) {
  const WindowIndex first = window_of(kWindowStart, kSize);
  const Burst burst =
      plan(query(kWindowStart, 150), {{first - 1, 5}, {first, 100}, {first + 1, 60}});
  EXPECT_EQ(burst.windows_used, 3);
  EXPECT_EQ(burst.first, kWindowStart + kSize);
  EXPECT_EQ(burst.last, kWindowStart + 4 * kSize - Millis{1});
}

TEST(BurstPlan, says_how_many_find_no_room_within_the_delay) {
  BurstQuery asked = query(kWindowStart, 1'000);
  asked.max_delay = kSize;  // two windows
  const Burst burst = plan(asked, {{window_of(kWindowStart, kSize), 30}});
  EXPECT_EQ(burst.placed, 170);
  EXPECT_EQ(burst.windows_used, 2);
}

TEST(BurstPlan, gives_no_instants_when_nothing_fits) {
  BurstQuery asked = query(kWindowStart, 1);
  asked.max_delay = Millis{0};
  const Burst burst = plan(asked, {{window_of(kWindowStart, kSize), 100}});
  EXPECT_EQ(burst.placed, 0);
  EXPECT_EQ(burst.windows_used, 0);
  EXPECT_FALSE(burst.first);
  EXPECT_FALSE(burst.last);
}

// The rule of place(), asked event by event, must fill the same windows.
TEST(BurstPlan, agrees_with_placing_the_events_one_by_one) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    auto draw = [&, n = std::uint64_t{0}](std::uint64_t below) mutable {
      return static_cast<std::int64_t>(mix64(seed * 1'000 + n++) % below);
    };
    BurstQuery asked = query(kWindowStart + Millis{draw(4'000)}, draw(800));
    asked.max_delay = Millis{draw(40'000)};
    const WindowIndex first = window_of(asked.requested, kSize);
    std::map<WindowIndex, std::int64_t> used;
    for (WindowIndex window = first - 1; window < first + 12; ++window) {
      if (draw(2) == 0) used[window] = draw(130);
    }
    const Burst burst = plan(asked, used);

    FullRuns full;
    std::map<WindowIndex, std::int64_t> filled = used;
    std::map<WindowIndex, std::int64_t> taken;
    std::int64_t placed = 0;
    for (; placed < asked.count; ++placed) {
      const auto found = place({.requested = asked.requested,
                                .max_delay = asked.max_delay,
                                .max_per_window = asked.max_per_window,
                                .window_size = kSize,
                                .entropy = seed},
                               full, [&](WindowIndex window) { return filled[window]; });
      if (!found) break;
      ++filled[found->window];
      ++taken[found->window];
    }
    ASSERT_EQ(burst.placed, placed) << "seed " << seed;
    ASSERT_EQ(burst.windows_used, static_cast<std::int64_t>(taken.size())) << "seed " << seed;
    if (placed == 0) continue;
    EXPECT_EQ(window_of(*burst.first, kSize), taken.begin()->first) << "seed " << seed;
    EXPECT_EQ(window_of(*burst.last, kSize), taken.rbegin()->first) << "seed " << seed;
  }
}

}  // namespace
}  // namespace penstock::core
