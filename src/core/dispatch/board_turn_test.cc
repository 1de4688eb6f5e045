// One board, asked turn by turn.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/board.h"
#include "core/dispatch/testing/board.h"

namespace penstock::core {
namespace {

// A store that is away for longer than the term, and nobody else: nothing is sent twice.
TEST_F(Board, keeps_what_it_knows_over_a_gap_that_nobody_used) {
  const Instant now = kStart;
  DispatchBoard board(kBoardType, 1);
  const Lease lease{.token = 7, .fresh = true};
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(lease), settings, now, now);
  EXPECT_GT(board.turn(settings, now, false).claim, 0U);
  Claim claim{.batch_id = "b", .items = {}, .next_due = std::nullopt};
  for (const char* id : {"sent", "held"}) {
    claim.items.push_back({.id = ItemId::trusted(id), .scheduled = now, .attempts = 1});
  }
  board.on_claim(std::move(claim), 50, settings, now);
  Instant again{};
  auto sending = board.take(settings, now, again);
  ASSERT_TRUE(sending);
  board.on_answer(sending->handover.id, "b", 0, {}, settings, now);
  const Instant late = now + kLeaseTerm;
  board.on_news();  // there is something to claim, for who holds the lease
  const DispatchBoard::Orders orders = board.turn(settings, late, false);
  EXPECT_TRUE(orders.ask_lease);
  EXPECT_EQ(orders.claim, 0U);
  ASSERT_EQ(orders.settle.size(), 1U);  // the token guards it
  EXPECT_EQ(orders.settle[0].id.str(), "sent");
  EXPECT_FALSE(board.take(settings, late, again));
  board.on_settled(false, std::vector(orders.settle), late);
  board.on_lease(std::optional(Lease{.token = 7}), settings, late, late);
  sending = board.take(settings, late, again);
  ASSERT_TRUE(sending);
  EXPECT_EQ(sending->handover.id.str(), "held");
  EXPECT_EQ(board.turn(settings, late + kStoreRetry, false).settle.size(), 1U);
  // Another came: all of it is his.
  board.on_lease(std::optional(Lease{.token = 9, .fresh = true}), settings, late, late);
  EXPECT_EQ(board.held(), 0U);
}

TEST_F(Board, gives_another_turn_to_what_was_late) {
  settings.max_per_second = 1;
  const Instant now = kStart;
  DispatchBoard board(kBoardType, 1);
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(Lease{.token = 1, .fresh = true}), settings, now, now);
  (void)board.turn(settings, now, false);
  Claim claim{.batch_id = "b", .items = {}, .next_due = std::nullopt};
  claim.items.push_back(
      {.id = ItemId::trusted("x"), .scheduled = now, .attempts = 1, .context = "{}"});
  board.on_claim(std::move(claim), 50, settings, now);
  Instant at = now + Seconds{2};
  Instant again = at + Seconds{5};
  auto sending = board.take(settings, at, again);
  ASSERT_TRUE(sending);
  EXPECT_EQ(sending->taken, at);
  board.on_late(std::move(*sending), at + Millis{20});
  EXPECT_EQ(board.held(), 1U);
  at += Millis{30};
  sending = board.take(settings, at, again);
  ASSERT_TRUE(sending) << "the turn that was missed is not counted";
  EXPECT_EQ(sending->handover.context, "{}");
  EXPECT_EQ(sending->handover.attempt, 1);
  EXPECT_EQ(sending->batch_id, "b");
  EXPECT_FALSE(board.take(settings, at, again));
}

TEST_F(Board, hands_a_pause_on_and_takes_it_over) {
  const Instant now = kStart;
  DispatchBoard board(kBoardType, 1);
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(Lease{.token = 1, .fresh = true, .paused_until = now + Seconds{30}}),
                 settings, now, now);
  EXPECT_EQ(board.paused_until(now), now + Seconds{30});
  EXPECT_EQ(board.turn(settings, now, false).claim, 0U);
  const Instant later = now + Seconds{31};
  EXPECT_EQ(board.paused_until(later), Instant{});
  (void)board.turn(settings, later, false);
  board.on_lease(std::optional(Lease{.token = 1}), settings, later, later);
  EXPECT_FALSE(board.turn(settings, later, false).ask_lease);
  board.on_answer(ItemId::trusted("x"), "b", 0,
                  {.outcome = SinkOutcome::slow_down, .detail = "", .pause = Seconds{10}}, settings,
                  later);
  EXPECT_TRUE(board.turn(settings, later, false).ask_lease) << "the next holder should know";
  EXPECT_EQ(board.paused_until(later), later + Seconds{10});
}

TEST_F(Board, sends_by_the_wall_clock_and_paces_by_its_own) {
  const Instant now = kStart;
  DispatchBoard board(kBoardType, 1);
  board.set_wall_offset(std::chrono::hours{1});
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(Lease{.token = 1, .fresh = true}), settings, now, now);
  (void)board.turn(settings, now, false);
  Claim claim{.batch_id = "b", .items = {}, .next_due = std::nullopt};
  claim.items.push_back({.id = ItemId::trusted("x"),
                         .scheduled = now + std::chrono::hours{1} + Seconds{1},
                         .attempts = 1});
  board.on_claim(std::move(claim), 50, settings, now);
  Instant again = now + Seconds{5};
  EXPECT_FALSE(board.take(settings, now, again));
  EXPECT_EQ(again, now + Seconds{1});
  ASSERT_TRUE(board.take(settings, again, again));
  board.on_answer(ItemId::trusted("x"), "b", 0, {.outcome = SinkOutcome::failed, .detail = ""},
                  settings, again);
  const auto orders = board.turn(settings, again + kSettleDelay, false);
  ASSERT_EQ(orders.settle.size(), 1U);
  EXPECT_GE(orders.settle[0].not_before, again + std::chrono::hours{1} + settings.retry_backoff);
}

}  // namespace
}  // namespace penstock::core
