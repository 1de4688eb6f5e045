// Several threads at once: what must hold in whatever order they come.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/limits/conformance/limit_harness.h"

namespace penstock::store::conformance {

class LimitConcurrencySuite : public LimitSuite {
 protected:
  // Runs `work(thread)` on all threads at once.
  template <class Work>
  static void together(int threads, Work&& work) {
    std::barrier start(threads);
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        start.arrive_and_wait();
        work(thread);
      });
    }
    for (std::thread& thread : running) thread.join();
  }
};

TEST_P(LimitConcurrencySuite, of_a_hundred_threads_one_gets_the_last_token) {
  for (const core::LimitType type : kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    const core::Limit limit = limit_of(type, 10);
    ASSERT_TRUE(ask(key, limit, 9).admitted);
    std::atomic<int> winners = 0;
    together(100, [&](int) { winners += ask(key, limit, 1).admitted ? 1 : 0; });
    EXPECT_EQ(winners, 1);
  }
}

// Each request takes from two or three of a few keys, in any order; denied ones must leave no
// trace. What was admitted, key by key, is what is used.
TEST_P(LimitConcurrencySuite, all_or_none_holds_under_contention) {
  constexpr int kKeys = 6;
  std::vector<std::atomic<std::int64_t>> taken(kKeys);
  together(4, [&](int thread) {
    Rng rng(static_cast<std::uint64_t>(thread) + 1);
    for (int i = 0; i < 150; ++i) {
      std::vector<int> picks = {0, 1, 2, 3, 4, 5};
      for (std::size_t at = picks.size(); at > 1; --at) {
        std::swap(picks[at - 1], picks[rng.below(at)]);
      }
      picks.resize(2 + rng.below(2));
      std::vector<LimitAsk> asks;
      for (const int key : picks) {
        asks.push_back({.key = "key" + std::to_string(key),
                        .limit = limit_of(core::LimitType::fixed_window, 40 + 10 * key)});
      }
      const std::int64_t cost = rng.between(1, 3);
      if (!ask(asks, cost).admitted) continue;
      for (const int key : picks) taken[static_cast<std::size_t>(key)] += cost;
    }
  });
  for (int key = 0; key < kKeys; ++key) {
    EXPECT_EQ(used("key" + std::to_string(key)), taken[static_cast<std::size_t>(key)]);
    EXPECT_LE(taken[static_cast<std::size_t>(key)], 40 + 10 * key);
  }
  EXPECT_GE(taken[0], 38) << "nobody came near the limit: this shows nothing";
}

TEST_P(LimitConcurrencySuite, readers_and_resets_do_not_disturb_decisions) {
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      EXPECT_TRUE(limits().list("", 10, kLimitStart));
      EXPECT_TRUE(limits().find("key1", kLimitStart));
      EXPECT_TRUE(limits().reset("reset"));
    }
  });
  std::atomic<int> admitted = 0;
  together(4, [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      admitted += ask("key1", limit_of(core::LimitType::sliding_window, 100), 1).admitted ? 1 : 0;
      ask("reset", limit_of(core::LimitType::sliding_window, 5), 1);
      ask("own" + std::to_string(thread) + "-" + std::to_string(i),
          limit_of(core::LimitType::token_bucket, 5), 1);
    }
  });
  stop = true;
  reader.join();
  EXPECT_EQ(admitted, 100);
}

}  // namespace penstock::store::conformance
