// One node at its work, in a world whose time is told.
#include "core/dispatch/board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/dispatch/testing/board.h"

namespace penstock::core {
namespace {

TEST_F(Board, hands_over_everything_once_and_in_time) {
  enqueue(300, kStart + Seconds{5});
  a.wake();
  world.run_until(kStart + Seconds{20});
  expect_all_dispatched();
  for (const auto& [id, times] : downstream.times()) EXPECT_EQ(times, 1) << id;
  EXPECT_GE(downstream.arrived.front().first, kStart + Seconds{5});
  EXPECT_LE(downstream.arrived.front().first, kStart + Seconds{5} + Millis{50});
}

TEST_F(Board, keeps_the_pace_and_uses_it) {
  settings.max_per_second = 50;
  enqueue(1'000, kStart);
  a.wake();
  world.run_until(kStart + Seconds{15});
  EXPECT_LE(downstream.most_in_a_second(), 50);
  const double seconds = std::chrono::duration<double>(downstream.arrived.back().first -
                                                       downstream.arrived.front().first)
                             .count();
  EXPECT_GE(static_cast<double>(downstream.arrived.size()) / seconds, 49.0);
}

TEST_F(Board, spreads_by_jitter) {
  settings.jitter_window = Millis{4'000};
  enqueue(500, kStart + Seconds{2});
  a.wake();
  world.run_until(kStart + Seconds{10});
  expect_all_dispatched();
  EXPECT_GE(downstream.arrived.back().first - downstream.arrived.front().first, Millis{3'500});
  EXPECT_LE(downstream.arrived.back().first, kStart + Seconds{6} + Millis{100});
}

TEST_F(Board, starts_early_what_can_wait_by_itself) {
  a.sink.delays = true;
  settings.pre_start_buffer = std::chrono::minutes{1};
  settings.dispatch_interval = std::chrono::hours{1};  // it wakes for them all the same
  settings.jitter_window = Millis{4'000};
  std::vector<Instant> begins;
  downstream.answer = [&](const Handover& item) {
    begins.push_back(world.now() + item.start_delay);
    return SinkAnswer{};
  };
  const Instant due = kStart + std::chrono::minutes{10};
  enqueue(100, due);
  a.wake();
  world.run_until(due - Seconds{55});
  expect_all_dispatched();
  EXPECT_GE(downstream.arrived.front().first, due - std::chrono::minutes{1});
  const auto [first, last] = std::ranges::minmax(begins);
  EXPECT_GE(first, due);
  EXPECT_GE(last - first, Millis{3'000});
  EXPECT_LE(last, due + Millis{4'001});
}

TEST_F(Board, sends_nothing_early_to_who_cannot_wait) {
  for (const std::size_t concurrency : {std::size_t{32}, SinkTraits().concurrency}) {
    a.sink.concurrency = concurrency;
    settings.pre_start_buffer = std::chrono::minutes{60};
    downstream.arrived.clear();
    const Instant due = world.now() + Seconds{30};
    enqueue(10, due);
    a.wake();
    world.run_until(due + Seconds{5});
    ASSERT_EQ(downstream.arrived.size(), 10U);
    EXPECT_GE(downstream.arrived.front().first, due);
  }
}

TEST_F(Board, gives_back_what_it_holds_when_switched_off) {
  settings.max_per_second = 10;
  enqueue(100, kStart);
  a.wake();
  world.run_until(kStart + Seconds{5});
  const std::size_t before = downstream.arrived.size();
  EXPECT_GT(before, 10U);
  settings.enabled = false;
  a.wake();
  world.run_until(kStart + Seconds{9});
  EXPECT_EQ(downstream.arrived.size(), before);
  EXPECT_EQ(count(ItemState::claimed), 0U);
  EXPECT_EQ(count(ItemState::ready), 100 - before);
  settings.enabled = true;
  world.run_until(kStart + Seconds{30});
  expect_all_dispatched();
}

TEST_F(Board, tries_again_until_dead) {
  downstream.answer = [](const Handover&) {
    return SinkAnswer{.outcome = SinkOutcome::failed, .detail = "HTTP 500"};
  };
  settings.max_dispatch_retries = 3;
  settings.retry_backoff = Millis{1'000};
  enqueue(20, kStart);
  a.wake();
  world.run_until(kStart + Seconds{30});
  EXPECT_EQ(count(ItemState::dead), 20U);
  for (const auto& [id, times] : downstream.times()) EXPECT_EQ(times, 3) << id;
  EXPECT_EQ((*store.find(kBoardType, ItemId::trusted("i0")))->last_error, "HTTP 500");
}

TEST_F(Board, waits_when_the_sink_asks_for_it_and_charges_nothing) {
  Instant open = kStart + Seconds{8};
  downstream.answer = [&](const Handover&) {
    if (world.now() >= open) return SinkAnswer{};
    return SinkAnswer{.outcome = SinkOutcome::slow_down,
                      .detail = "HTTP 429",
                      .pause = std::chrono::ceil<Millis>(open - world.now())};
  };
  a.sink.concurrency = 4;
  enqueue(100, kStart);
  a.wake();
  world.run_until(kStart + Seconds{7});
  EXPECT_LE(downstream.arrived.size(), 4U) << "only what was under way when the answer came";
  world.run_until(kStart + Seconds{20});
  expect_all_dispatched();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ((*store.find(kBoardType, ItemId::trusted("i" + std::to_string(i))))->retry_count, 0);
  }
}

TEST_F(Board, gives_back_in_a_long_pause_and_believes_no_endless_one) {
  settings.max_pause = Seconds{30};
  downstream.answer = [&](const Handover&) {
    if (world.now() > kStart + Seconds{25}) return SinkAnswer{};
    return SinkAnswer{
        .outcome = SinkOutcome::slow_down, .detail = {}, .pause = std::chrono::hours{9}};
  };
  a.sink.concurrency = 1;
  enqueue(10, kStart);
  a.wake();
  world.run_until(kStart + Seconds{3});
  EXPECT_EQ(count(ItemState::claimed), 0U);
  EXPECT_EQ(count(ItemState::ready), 10U);
  world.run_until(kStart + Seconds{60});
  expect_all_dispatched();
}

TEST_F(Board, is_quiet_after_a_stop_and_leaves_nothing_claimed) {
  settings.max_per_second = 10;
  enqueue(100, kStart);
  a.wake();
  world.run_until(kStart + Seconds{4});
  a.stop();
  world.run_until(kStart + Seconds{5});
  EXPECT_TRUE(a.board()->is_quiet());
  EXPECT_EQ(count(ItemState::claimed), 0U);
}

TEST_F(Board, never_sends_what_is_not_enabled_or_not_leased) {
  settings.enabled = false;
  enqueue(10, kStart);
  a.wake();
  b.wake();
  world.run_until(kStart + Seconds{20});
  EXPECT_TRUE(downstream.arrived.empty());
}

}  // namespace
}  // namespace penstock::core
