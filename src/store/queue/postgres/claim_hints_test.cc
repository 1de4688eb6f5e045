#include "store/queue/postgres/claim_hints.h"

#include <gtest/gtest.h>

#include <limits>

namespace penstock::store::postgres {
namespace {

constexpr Instant kNow = from_epoch_millis(1'750'000'000'000);
constexpr std::int64_t kNowUs = kNow.time_since_epoch().count();

ItemType type() { return ItemType::trusted("T"); }

ClaimRequest request(FencingToken token = 1) {
  return {.type = type(), .token = token, .limit = 10, .stale = std::chrono::minutes{2}};
}

ClaimHints::Report ended_at(std::int64_t due_us, std::string id = {}) {
  return {.passed = true,
          .place = {.due_us = due_us, .id = std::move(id)},
          .oldest_claim_us = std::nullopt,
          .claimed_any = true,
          .moment_us = kNowUs};
}

// Where the next claim begins.
std::optional<QueuePlace> next(ClaimHints& hints, FencingToken token = 1, Instant now = kNow) {
  const auto round = hints.begin(request(token), now);
  const std::optional<QueuePlace> from = round->from;
  hints.end(request(token), round, ended_at(from ? from->due_us : kNowUs, from ? from->id : "x"));
  return from;
}

TEST(ClaimHints, goes_on_where_the_last_claim_ended) {
  ClaimHints hints;
  EXPECT_EQ(next(hints), std::nullopt);
  const auto round = hints.begin(request(), kNow);
  hints.end(request(), round, ended_at(kNowUs - 5, "a"));
  EXPECT_EQ(next(hints), (QueuePlace{.due_us = kNowUs - 5, .id = "a"}));
}

TEST(ClaimHints, goes_back_to_what_came_in_before_the_place) {
  ClaimHints hints;
  next(hints);
  hints.lower(type(), kNowUs - 100);
  EXPECT_EQ(next(hints)->due_us, kNowUs - 100);
  hints.lower(type(), kNowUs + 100);
  EXPECT_EQ(next(hints)->due_us, kNowUs - 100) << "what comes later does not move it";
}

TEST(ClaimHints, goes_back_to_what_came_in_while_a_claim_was_under_way) {
  ClaimHints hints;
  const auto round = hints.begin(request(), kNow);
  hints.lower(type(), kNowUs - 100);
  hints.end(request(), round, ended_at(kNowUs));
  EXPECT_EQ(next(hints)->due_us, kNowUs - 100);
}

TEST(ClaimHints, begins_at_the_start_for_another_token) {
  ClaimHints hints;
  next(hints, 1);
  EXPECT_EQ(next(hints, 2), std::nullopt);
  EXPECT_NE(next(hints, 2), std::nullopt);
}

TEST(ClaimHints, begins_at_the_start_when_a_claim_may_be_stale) {
  ClaimHints hints;
  next(hints);
  EXPECT_NE(next(hints, 1, kNow + std::chrono::minutes{1}), std::nullopt);
  EXPECT_EQ(next(hints, 1, kNow + std::chrono::minutes{2}), std::nullopt);
}

TEST(ClaimHints, begins_at_the_start_after_a_failure_or_missed_news) {
  ClaimHints hints;
  next(hints);
  hints.end(request(), hints.begin(request(), kNow), std::nullopt);
  EXPECT_EQ(next(hints), std::nullopt);
  hints.forget();
  EXPECT_EQ(next(hints), std::nullopt);
  const auto round = hints.begin(request(), kNow);
  hints.forget();
  hints.end(request(), round, ended_at(kNowUs));
  const std::optional<QueuePlace> from = next(hints);
  EXPECT_EQ(from.value_or(QueuePlace{}).due_us, std::numeric_limits<std::int64_t>::min());
}

TEST(ClaimHints, stays_before_items_that_nobody_announces) {
  ClaimHints hints;
  const auto round = hints.begin(request(), kNow);
  hints.end(request(), round, ended_at(kNowUs + Micros{std::chrono::hours{1}}.count()));
  EXPECT_LT(next(hints)->due_us, kNowUs + Micros{std::chrono::minutes{1}}.count());
}

TEST(ClaimHints, remembers_where_claimed_items_stand_until_they_are_settled) {
  ClaimHints hints;
  const ClaimedItem item{.id = ItemId::trusted("a"), .context = {}};
  const std::int64_t due = 77;
  hints.remember(type(), {&item, 1}, {&due, 1});
  const std::vector<std::string_view> ids = {"a", "b"};
  EXPECT_EQ(hints.take_places(type(), ids), (std::vector<std::int64_t>{77, 0}));
  EXPECT_EQ(hints.take_places(type(), ids), (std::vector<std::int64_t>{0, 0}));
}

}  // namespace
}  // namespace penstock::store::postgres
