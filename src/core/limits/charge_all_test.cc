// Several limits at once.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/test_instants.h"
#include "core/limits/decide.h"

namespace penstock::core {
namespace {

class ChargeAll : public testing::Test {
 protected:
  void add(std::int64_t capacity, bool shadow = false, LimitType type = LimitType::token_bucket) {
    limits_[count_] = {.type = type,
                       .capacity = capacity,
                       .refill = {.tokens = 1, .micros = 1'000'000},
                       .window = Seconds{10}};
    shadows_[count_++] = shadow;
  }
  Verdict ask(std::int64_t cost) {
    std::vector<LimitUse> uses;
    for (std::size_t i = 0; i < count_; ++i)
      uses.push_back({&limits_[i], &states_[i], shadows_[i]});
    statuses_.assign(count_, {});
    return charge_all(uses, cost, kStart, statuses_);
  }
  std::int64_t used_by(std::size_t i) { return used(states_[i], kStart); }

  std::vector<LimitStatus> statuses_;

 private:
  std::size_t count_ = 0;
  std::array<Limit, 8> limits_;
  std::array<LimitState, 8> states_;
  std::array<bool, 8> shadows_{};
};

TEST_F(ChargeAll, charges_every_limit_and_names_the_one_with_least_left) {
  add(10);
  add(5);
  add(5, false, LimitType::sliding_window);
  const Verdict verdict = ask(2);
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 1U);
  EXPECT_EQ(used_by(0), 2);
  EXPECT_EQ(used_by(1), 2);
  EXPECT_EQ(used_by(2), 2);
  EXPECT_EQ(statuses_[0].remaining, 8);
  EXPECT_EQ(statuses_[2].remaining, 3);
}

TEST_F(ChargeAll, charges_none_when_one_denies) {
  add(10);
  add(3);
  ASSERT_TRUE(ask(2).admitted);
  const Verdict verdict = ask(2);
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 1U);
  EXPECT_EQ(used_by(0), 2);
  EXPECT_EQ(used_by(1), 2);
  EXPECT_TRUE(statuses_[0].admitted) << "it would have admitted by itself";
  EXPECT_EQ(statuses_[0].remaining, 8) << "what is left without the charge";
  EXPECT_FALSE(statuses_[1].admitted);
}

TEST_F(ChargeAll, names_the_longest_wait_and_never_is_longest) {
  add(4);
  add(3);
  add(3);
  ASSERT_TRUE(ask(2).admitted);
  EXPECT_EQ(ask(3).bound, 1U) << "the first of equals";
  add(2);
  EXPECT_EQ(ask(3).bound, 3U);
  EXPECT_EQ(statuses_[3].retry_after, kNever);
}

TEST_F(ChargeAll, lets_a_shadow_deny_nothing_and_bind_nothing) {
  add(10);
  add(2, true);
  ASSERT_TRUE(ask(2).admitted);
  EXPECT_EQ(used_by(1), 2);
  const Verdict verdict = ask(1);
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 0U);
  EXPECT_FALSE(statuses_[1].admitted);
  EXPECT_EQ(used_by(0), 3);
  EXPECT_EQ(used_by(1), 2) << "charged only if it would have admitted";
}

TEST_F(ChargeAll, charges_no_shadow_when_another_denies) {
  add(1);
  add(100, true);
  EXPECT_FALSE(ask(2).admitted);
  EXPECT_EQ(used_by(1), 0);
}

TEST_F(ChargeAll, lets_shadows_bind_when_there_is_nothing_else) {
  add(10, true);
  add(1, true);
  const Verdict verdict = ask(2);
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 1U);
}

TEST_F(ChargeAll, looks_and_gives_back) {
  add(10);
  add(5);
  ASSERT_TRUE(ask(4).admitted);
  EXPECT_TRUE(ask(0).admitted);
  EXPECT_EQ(statuses_[1].remaining, 1);
  EXPECT_TRUE(ask(-3).admitted);
  EXPECT_EQ(used_by(0), 1);
  EXPECT_EQ(used_by(1), 1);
}

}  // namespace
}  // namespace penstock::core
