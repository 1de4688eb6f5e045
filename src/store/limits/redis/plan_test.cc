#include "store/limits/redis/plan.h"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <string>

#include "store/limits/redis/value.h"

namespace penstock::store::redis {
namespace {

class RedisPlan : public testing::Test {
 protected:
  void add(const std::vector<std::string>& keys, std::int64_t capacity = 10) {
    std::vector<LimitCheck>& checks = checks_.emplace_back();
    for (const std::string& key : keys) {
      checks.push_back(
          {.key = names_.emplace_back(key),
           .limit = {
               .type = core::LimitType::gcra, .capacity = capacity, .refill = {1, 1'000'000}}});
    }
    statuses_.emplace_back(checks.size());
    parts_.push_back({.checks = checks, .statuses = statuses_.back()});
  }
  Plan plan(bool by_slot = false) {
    std::vector<std::size_t> all(parts_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return plan_calls(parts_, all, {.prefix = "p:", .by_slot = by_slot});
  }
  static std::vector<std::size_t> of(const ScriptCall& call) {
    return {call.parts().begin(), call.parts().end()};
  }

  std::deque<std::string> names_;
  std::deque<std::vector<LimitCheck>> checks_;
  std::deque<std::vector<core::LimitStatus>> statuses_;
  std::vector<Part> parts_;
};

using Indexes = std::vector<std::size_t>;

TEST_F(RedisPlan, puts_what_it_can_into_one_call) {
  add({"a"});
  add({"b", "a"});
  add({"c"});
  const Plan made = plan();
  ASSERT_EQ(made.calls.size(), 1U);
  EXPECT_EQ(of(made.calls[0]), (Indexes{0, 1, 2}));
  EXPECT_TRUE(made.here.empty());
  EXPECT_TRUE(made.later.empty());
}

TEST_F(RedisPlan, keeps_a_key_in_its_call_however_many_calls_there_are) {
  for (int i = 0; i < 300; ++i) add({"k" + std::to_string(i)});
  add({"k0"});
  add({"k299"});
  const Plan made = plan();
  ASSERT_EQ(made.calls.size(), 3U);
  EXPECT_EQ(made.calls[0].parts().back(), 300U);
  EXPECT_EQ(made.calls[2].parts().back(), 301U);
  EXPECT_TRUE(made.later.empty());
}

TEST_F(RedisPlan, lets_a_part_wait_whose_keys_are_in_two_calls_and_all_behind_it) {
  for (int i = 0; i < 200; ++i) add({"k" + std::to_string(i)});
  add({"k0", "k199"});  // 200
  add({"k0"});          // 201
  add({"k1"});          // 202
  const Plan made = plan();
  ASSERT_EQ(made.calls.size(), 2U);
  EXPECT_EQ(made.later, (Indexes{200, 201}));
  EXPECT_EQ(made.calls[0].parts().back(), 202U);
}

TEST_F(RedisPlan, hands_huge_limits_to_the_core_and_all_behind_them) {
  add({"a"});
  add({"a"}, core::kCapacityMax);
  add({"a", "b"});
  add({"b"});
  add({"c"});
  const Plan made = plan();
  ASSERT_EQ(made.calls.size(), 1U);
  EXPECT_EQ(of(made.calls[0]), (Indexes{0, 4}));
  EXPECT_EQ(made.here, (Indexes{1, 2, 3}));
}

TEST_F(RedisPlan, makes_a_call_for_each_slot_of_a_cluster) {
  add({"{one}a"});
  add({"{two}a"});
  add({"{one}b"});
  const Plan made = plan(/*by_slot=*/true);
  ASSERT_EQ(made.calls.size(), 2U);
  EXPECT_EQ(of(made.calls[0]), (Indexes{0, 2}));
  EXPECT_EQ(of(made.calls[1]), (Indexes{1}));
  EXPECT_EQ(made.calls[0].command({.prefix = "p:"}).slot, slot_of("one"));
}

TEST_F(RedisPlan, never_overfills_a_call) {
  for (int i = 0; i < 1'200; ++i) add({"hot"});
  const Plan made = plan();
  ASSERT_EQ(made.calls.size(), 1U);
  EXPECT_EQ(made.calls[0].parts().size(), ScriptCall::kPartsMax);
  EXPECT_EQ(made.later.size(), 1'200 - ScriptCall::kPartsMax);
}

TEST_F(RedisPlan, reads_answers_and_refuses_odd_ones) {
  add({"a"});
  add({"a"});
  const Plan made = plan();
  const auto packed = [](const std::vector<double>& numbers) {
    std::string bytes;
    for (const double number : numbers) put_double(number, bytes);
    return bytes;
  };
  std::vector<std::size_t> back;
  ASSERT_TRUE(made.calls[0].read(packed({5, 1, 1, 9, 0, 77, 2}), parts_, back));
  EXPECT_EQ(parts_[0].admitted, true);
  EXPECT_EQ(statuses_[0][0].remaining, 9);
  EXPECT_EQ(statuses_[0][0].limit, 10);
  EXPECT_EQ(statuses_[0][0].reset_after, Micros{77});
  EXPECT_EQ(back, (Indexes{1}));
  for (const auto& odd : std::vector<std::vector<double>>{
           {}, {5}, {5, 1}, {5, 1, 1, 9, 0, 77}, {5, 2, 2, 2}, {5, 1, 1, 9, 0}}) {
    EXPECT_FALSE(made.calls[0].read(packed(odd), parts_, back));
  }
  EXPECT_FALSE(made.calls[0].read("123", parts_, back));
}

}  // namespace
}  // namespace penstock::store::redis
