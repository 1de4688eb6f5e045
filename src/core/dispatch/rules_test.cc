// The small rules of dispatch: states, retries, jitter, claims.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/dispatch/item.h"
#include "core/dispatch/pace.h"

namespace penstock::core {
namespace {

TEST(ItemState, has_a_name_that_is_understood) {
  for (std::size_t i = 0; i < kItemStates; ++i) {
    const auto state = static_cast<ItemState>(i);
    EXPECT_EQ(item_state_of(item_state_name(state)), state);
  }
  EXPECT_EQ(item_state_of("ready"), std::nullopt);
}

TEST(AfterOutcome, gives_up_after_as_many_attempts_as_allowed) {
  int retries = 0;
  for (int attempt = 1; attempt <= 5; ++attempt) {
    const AfterOutcome after = after_outcome(Outcome::failed, retries, 5);
    EXPECT_EQ(after.state, attempt < 5 ? ItemState::ready : ItemState::dead);
    retries = after.retry_count;
  }
  EXPECT_EQ(retries, 5);
}

TEST(AfterOutcome, charges_only_what_failed) {
  EXPECT_EQ(after_outcome(Outcome::give_back, 3, 5).state, ItemState::ready);
  EXPECT_EQ(after_outcome(Outcome::give_back, 3, 5).retry_count, 3);
  EXPECT_EQ(after_outcome(Outcome::done, 3, 5).state, ItemState::dispatched);
  EXPECT_EQ(after_outcome(Outcome::refused, 0, 5).state, ItemState::dead);
}

TEST(RetryDelay, doubles_up_to_its_longest_with_a_tenth_of_jitter) {
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    for (int retry = 1; retry < 40; ++retry) {
      const std::int64_t step = std::min<std::int64_t>(60'000, 1'000LL << std::min(retry - 1, 20));
      const Millis delay = retry_delay(Millis{1'000}, Millis{60'000}, retry, rng);
      EXPECT_GE(delay.count(), step);
      EXPECT_LE(delay.count(), step + step / 10);
    }
  }
}

TEST(Jitter, is_spread_over_the_window_and_the_same_for_one_item) {
  std::set<std::int64_t> tenths;
  for (int i = 0; i < 1'000; ++i) {
    const std::string id = "item-" + std::to_string(i);
    const Millis jitter = jitter_of(id, Millis{4'000});
    EXPECT_GE(jitter.count(), 0);
    EXPECT_LE(jitter.count(), 4'000);
    EXPECT_EQ(jitter, jitter_of(id, Millis{4'000}));
    tenths.insert(jitter.count() / 400);
  }
  EXPECT_GE(tenths.size(), 10U);
  EXPECT_EQ(jitter_of("x", Millis{0}), Millis{0});
}

TEST(ClaimPlan, claims_two_batches_ahead_without_a_pace) {
  EXPECT_EQ(plan_claim({.held = 0, .batch_size = 500}), 500U);
  EXPECT_EQ(plan_claim({.held = 500, .batch_size = 500}), 500U);
  EXPECT_EQ(plan_claim({.held = 501, .batch_size = 500}), 0U);
}

TEST(ClaimPlan, claims_two_seconds_ahead_of_a_slow_pace) {
  const PaceLimit slow{.per_second = 50, .burst = 5};
  EXPECT_EQ(plan_claim({.held = 0, .batch_size = 500, .pace = slow}), 100U);
  EXPECT_EQ(plan_claim({.held = 60, .batch_size = 500, .pace = slow}), 0U);
}

TEST(ClaimPlan, is_not_capped_by_the_batch_size) {
  const PaceLimit fast{.per_second = 5'000, .burst = 500};
  // Batch after batch, until a second's worth is there.
  std::size_t held = 0;
  while (const std::size_t more = plan_claim({.held = held, .batch_size = 100, .pace = fast})) {
    EXPECT_LE(more, 100U);
    held += more;
  }
  EXPECT_GE(held, 2'500U);
}

}  // namespace
}  // namespace penstock::core
