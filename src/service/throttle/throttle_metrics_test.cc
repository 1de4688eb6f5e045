#include "service/throttle/throttle_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace penstock::service {
namespace {

void add(DeniedKeys& keys, const std::string& key, int times) {
  for (int i = 0; i < times; ++i) keys.add(key);
}

TEST(DeniedKeys, are_none_at_first) { EXPECT_TRUE(DeniedKeys().top(10).empty()); }

TEST(DeniedKeys, come_in_order_and_up_to_the_limit) {
  DeniedKeys keys;
  add(keys, "b", 2);
  add(keys, "c", 5);
  add(keys, "a", 2);
  const std::vector<DeniedKey> expected = {{"c", 5, 0}, {"a", 2, 0}};
  EXPECT_EQ(keys.top(2), expected);
  EXPECT_EQ(keys.top(100).size(), 3U);
}

TEST(DeniedKeys, keep_the_frequent_among_many_that_are_not) {
  DeniedKeys keys;
  for (int round = 0; round < 1'000; ++round) {
    keys.add("noisy");
    for (int i = 0; i < 20; ++i) keys.add("once:" + std::to_string(round * 20 + i));
  }
  const std::vector<DeniedKey> top = keys.top(1);
  ASSERT_EQ(top.size(), 1U);
  EXPECT_EQ(top[0].key, "noisy");
  EXPECT_GE(top[0].denied, 1'000U);
  EXPECT_LE(top[0].denied - top[0].error, 1'000U);
}

TEST(DeniedKeys, stay_bounded) {
  DeniedKeys keys;
  for (int i = 0; i < 50'000; ++i) keys.add(std::to_string(i));
  EXPECT_EQ(keys.top(50'000).size(), DeniedKeys::kStripes * DeniedKeys::kCountersPerStripe);
}

TEST(DeniedKeys, count_what_several_threads_tell) {
  DeniedKeys keys;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5'000; ++i) keys.add(i % 2 == 0 ? "even" : "odd");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<DeniedKey> expected = {{"even", 10'000, 0}, {"odd", 10'000, 0}};
  EXPECT_EQ(keys.top(10), expected);
}

}  // namespace
}  // namespace penstock::service
