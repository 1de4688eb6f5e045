// Two nodes, of which one takes over from the other.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/dispatch/testing/board.h"

namespace penstock::core {
namespace {

using store::conformance::QueueModel;

TEST_F(Board, gives_no_fresh_second_of_pace_to_who_takes_over_at_once) {
  settings.max_per_second = 50;
  settings.burst = 50;
  enqueue(1'000, kStart);
  a.wake();
  world.run_until(kStart + Seconds{5});
  const std::size_t before = downstream.arrived.size();
  a.stop();
  ASSERT_TRUE(store.release(kBoardType, "a"));
  b.wake();
  world.run_until(kStart + Seconds{12});
  EXPECT_GT(downstream.arrived.size(), before + 100);
  EXPECT_LE(downstream.most_in_a_second(), 50);
}

TEST_F(Board, gives_items_back_due_when_they_were) {
  settings.max_per_second = 1;
  settings.burst = 1;
  enqueue(10, kStart - Seconds{30});
  a.wake();
  world.run_until(kStart + Seconds{2});
  a.stop();
  world.run_until(kStart + Seconds{4});
  const auto summary = store.summary(kBoardType);
  ASSERT_TRUE(summary);
  EXPECT_GT(count(ItemState::ready), 0U);
  EXPECT_EQ(summary->oldest_due, kStart - Seconds{30});
}

TEST(BoardPause, is_never_longer_than_the_longest_pause_when_the_clock_was_set_back) {
  DispatchBoard board(kBoardType, 1);
  ItemTypeSettings settings;
  settings.max_pause = Seconds{10};
  std::ignore = board.turn(settings, kStart, false);
  const Lease left{.token = 2, .fresh = true, .paused_until = kStart + std::chrono::hours{1}};
  board.on_lease(std::optional(left), settings, kStart, kStart);
  EXPECT_EQ(board.paused_until(kStart), kStart + Seconds{10});
}

// Two nodes, crashes, lost calls: nothing is lost, repeats come only with crashes, and the pace
// holds in every sliding second across all takeovers.
TEST(BoardWorld, survives_crashes_of_two_nodes) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BoardWorld world(seed);
    QueueModel store(world.clock);
    BoardDownstream downstream;
    downstream.answer = [&](const Handover&) {
      return world.rng.below(15) == 0 ? SinkAnswer{.outcome = SinkOutcome::failed, .detail = "x"}
                                      : SinkAnswer{};
    };
    ItemTypeSettings settings;
    settings.jitter_window = Millis{world.rng.between(0, 500)};
    settings.batch_size = world.rng.between(5, 60);
    settings.max_dispatch_retries = 50;
    settings.retry_backoff = Millis{200};
    settings.max_per_second = world.rng.between(20, 80);
    BoardNode a(world, store, downstream, settings, "a");
    BoardNode b(world, store, downstream, settings, "b");
    std::vector<store::NewItem> items;
    for (int i = 0; i < 400; ++i) {
      items.push_back({.type = kBoardType,
                       .id = ItemId::trusted("i" + std::to_string(i)),
                       .due = kStart + Seconds{world.rng.between(0, 5)},
                       .slot = std::nullopt,
                       .context = "{}"});
    }
    store.enqueue(items, std::nullopt);
    a.wake();
    b.wake();
    int crashes = 0;
    for (int second = 4; second < 30; second += static_cast<int>(world.rng.between(3, 8))) {
      BoardNode& node = world.rng.below(2) == 0 ? a : b;
      world.at(kStart + Seconds{second}, [&] { node.crash(); });
      world.at(kStart + Seconds{second} + world.some(Millis{100}, Millis{2'000}),
               [&] { node.restart(); });
      ++crashes;
    }
    world.run_until(kStart + Seconds{120});
    EXPECT_EQ(store.summary(kBoardType)->counts[static_cast<std::size_t>(ItemState::dispatched)],
              400U);
    EXPECT_LE(downstream.most_in_a_second(), *settings.max_per_second);
    // Each item arrives once for each failed attempt and the one that worked; the rest are repeats.
    std::size_t attempts = 0;
    for (int i = 0; i < 400; ++i) {
      attempts += static_cast<std::size_t>(
          (*store.find(kBoardType, ItemId::trusted("i" + std::to_string(i))))->attempts);
    }
    EXPECT_LE(downstream.arrived.size(), attempts) << "sent without a claim";
    EXPECT_GT(crashes, 0);
  }
}

}  // namespace
}  // namespace penstock::core
