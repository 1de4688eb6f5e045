#include "runtime/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock::runtime {
namespace {

using testing::HasSubstr;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

class MemoryBudgetTest : public testing::Test {
 protected:
  Metrics metrics_;
  MemoryBudget budget_{8 * kMiB, metrics_};
};

TEST_F(MemoryBudgetTest, gives_back_what_a_charge_took_when_it_ends) {
  {
    const auto charge = budget_.try_take(3 * kMiB);
    ASSERT_TRUE(charge);
    EXPECT_EQ(charge->bytes(), 3 * kMiB);
    EXPECT_EQ(budget_.used(), 3 * kMiB);
  }
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(MemoryBudgetTest, refuses_what_has_no_room_and_counts_it) {
  const auto first = budget_.try_take(6 * kMiB);
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget_.try_take(2 * kMiB));
  EXPECT_EQ(budget_.used(), 6 * kMiB);
  EXPECT_THAT(metrics_.prometheus_text(), HasSubstr("penstock_memory_refusals_total 1\n"));
}

TEST_F(MemoryBudgetTest, large_charges_leave_an_eighth_to_small_ones) {
  const auto large = budget_.try_take(7 * kMiB);
  ASSERT_TRUE(large);
  EXPECT_EQ(budget_.available(), 0U);
  EXPECT_FALSE(budget_.try_take(MemoryBudget::kSmallBytes + 1));
  std::vector<Charge> small;
  while (auto one = budget_.try_take(MemoryBudget::kSmallBytes)) small.push_back(std::move(*one));
  EXPECT_EQ(small.size(), kMiB / MemoryBudget::kSmallBytes);
  EXPECT_EQ(budget_.used(), budget_.max());
}

TEST_F(MemoryBudgetTest, a_charge_grows_only_where_there_is_room) {
  Charge charge(budget_);
  EXPECT_TRUE(charge.try_resize(5 * kMiB));
  EXPECT_FALSE(charge.try_resize(8 * kMiB));
  EXPECT_EQ(charge.bytes(), 5 * kMiB);
  EXPECT_TRUE(charge.try_resize(kMiB));
  EXPECT_EQ(budget_.used(), kMiB);
}

TEST_F(MemoryBudgetTest, memory_in_use_counts_even_without_room) {
  Charge forced(budget_);
  forced.force(9 * kMiB);
  EXPECT_EQ(budget_.used(), 9 * kMiB);
  EXPECT_EQ(budget_.available(), 0U);
  EXPECT_FALSE(budget_.try_take(1));
  forced.force(0);
  EXPECT_TRUE(budget_.try_take(1));
}

TEST_F(MemoryBudgetTest, a_moved_charge_is_given_back_once) {
  auto first = budget_.try_take(kMiB);
  ASSERT_TRUE(first);
  Charge second = std::move(*first);
  first.reset();
  EXPECT_EQ(budget_.used(), kMiB);
  auto third = budget_.try_take(2 * kMiB);
  ASSERT_TRUE(third);
  second = std::move(*third);
  EXPECT_EQ(budget_.used(), 2 * kMiB);
  second = Charge();
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(MemoryBudgetTest, is_shown) {
  const auto charge = budget_.try_take(kMiB);
  const std::string text = metrics_.prometheus_text();
  EXPECT_THAT(text, HasSubstr("penstock_memory_budget_bytes{state=\"max\"} 8388608\n"));
  EXPECT_THAT(text, HasSubstr("penstock_memory_budget_bytes{state=\"used\"} 1048576\n"));
}

TEST_F(MemoryBudgetTest, threads_never_pass_it_together) {
  std::vector<std::thread> threads;
  std::atomic<bool> passed{false};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5'000; ++round) {
        const auto charge = budget_.try_take(3 * kMiB);
        if (budget_.used() > budget_.max()) passed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(passed);
  EXPECT_EQ(budget_.used(), 0U);
}

TEST(MachineMemory, control_group_limits_are_read) {
  EXPECT_EQ(parse_memory_max("536870912"), 536'870'912U);
  EXPECT_EQ(parse_memory_max("max"), std::nullopt);
  EXPECT_EQ(parse_memory_max(""), std::nullopt);
  EXPECT_EQ(parse_memory_max("9223372036854771712"), std::nullopt);  // version 1: not limited
  EXPECT_GT(machine_memory_bytes(), 0U);
}

TEST(MachineMemory, default_budget_is_a_quarter_and_at_most_a_gibibyte) {
  EXPECT_EQ(default_memory_budget(2'048 * kMiB), 512 * kMiB);
  EXPECT_EQ(default_memory_budget(64'000 * kMiB), 1'024 * kMiB);
}

}  // namespace
}  // namespace penstock::runtime
