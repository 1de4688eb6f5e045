// Several nodes on one engine: what must hold between them, and what keeps the engine small.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/slots/conformance/shared_harness.h"

namespace penstock::store::conformance {

TEST_P(SharedUsageSuite, nodes_admit_together_exactly_what_the_limit_allows) {
  constexpr std::int64_t kCapacity = 700;
  std::array<std::atomic<int>, 3> admitted{};
  std::vector<std::thread> clients;
  for (int n = 0; n < 2; ++n) {
    LimitStore& limits = *node().limits.store;
    for (int thread = 0; thread < 4; ++thread) {
      clients.emplace_back([&limits, &admitted] {
        for (int batch = 0; batch < 20; ++batch) {
          LimitBatch asks;
          for (int i = 0; i < 24; ++i) {
            asks.add({{.key = "hot" + std::to_string(i % 3), .limit = quota(kCapacity)}}, 1);
          }
          const std::vector<Decision> decisions = asks.apply(limits, kLimitStart);
          for (std::size_t i = 0; i < decisions.size(); ++i) {
            admitted[i % 3] += decisions[i].admitted ? 1 : 0;
          }
        }
      });
    }
  }
  for (std::thread& client : clients) client.join();
  for (const auto& count : admitted) EXPECT_EQ(count, kCapacity);
}

// Many keys in any order, some of them new: nobody may fail, and what was admitted is what is used.
TEST_P(SharedUsageSuite, overlapping_batches_never_lock_each_other_out) {
  constexpr std::size_t kKeys = 30;
  std::vector<std::atomic<std::int64_t>> taken(kKeys);
  std::vector<std::thread> clients;
  const Backend first = node();
  for (int n = 0; n < 2; ++n) {
    LimitStore& limits = n == 0 ? *first.limits.store : *node().limits.store;
    for (int thread = 0; thread < 3; ++thread) {
      clients.emplace_back([&limits, &taken, seed = n * 10 + thread + 1] {
        Rng rng(static_cast<std::uint64_t>(seed));
        for (int round = 0; round < 60; ++round) {
          LimitBatch batch;
          std::vector<std::vector<std::size_t>> picks;
          for (std::uint64_t count = 1 + rng.below(12); count > 0; --count) {
            std::vector<std::size_t> keys = {rng.below(kKeys)};
            const std::size_t other = rng.below(kKeys);
            if (other != keys[0]) keys.push_back(other);
            std::vector<LimitAsk> asks;
            for (const std::size_t key : keys) {
              asks.push_back({.key = "key" + std::to_string(key), .limit = quota(40)});
            }
            batch.add(std::move(asks), 1);
            picks.push_back(std::move(keys));
          }
          const std::vector<Decision> decisions = batch.apply(limits, kLimitStart);
          for (std::size_t i = 0; i < decisions.size(); ++i) {
            if (!decisions[i].admitted) continue;
            for (const std::size_t key : picks[i]) ++taken[key];
          }
        }
      });
    }
  }
  for (std::thread& client : clients) client.join();
  std::int64_t sum = 0;
  for (std::size_t key = 0; key < kKeys; ++key) {
    const auto use = first.limits.store->find("key" + std::to_string(key), kLimitStart);
    ASSERT_TRUE(use && *use);
    EXPECT_EQ((*use)->used, taken[key]);
    EXPECT_LE(taken[key], 40);
    sum += taken[key];
  }
  EXPECT_GE(sum, 38 * static_cast<std::int64_t>(kKeys)) << "nobody came near the limits";
}

TEST_P(SharedUsageSuite, the_engine_says_what_time_it_is) {
  const Backend one = node();
  const core::Limit limit = quota(2);
  ASSERT_TRUE(ask(*one.limits.store, "key", limit, std::nullopt));
  const auto use = node().limits.store->find("key", std::nullopt);
  ASSERT_TRUE(use && *use) << "two nodes of one engine do not agree on the time";
  EXPECT_EQ((*use)->used, 1);
  EXPECT_EQ(one.limits.store->list("", 10, std::nullopt)->size(), 1U);
}

TEST_P(SharedUsageSuite, a_batch_of_thousands_of_keys_is_decided) {
  LimitStore& limits = *node().limits.store;
  LimitBatch batch;
  for (int i = 0; i < 3'000; ++i) {
    batch.add({{.key = "key" + std::to_string(i), .limit = quota(1)}}, 1);
  }
  for (const Decision& decision : batch.apply(limits, kLimitStart)) {
    ASSERT_TRUE(decision.admitted);
  }
  for (const Decision& decision : batch.apply(limits, kLimitStart)) {
    ASSERT_FALSE(decision.admitted);
  }
}

TEST_P(SharedUsageSuite, a_sweep_drops_what_is_idle_and_nothing_else) {
  const Backend backend = node();
  ASSERT_NE(backend.limits.sweep, nullptr);
  for (int i = 0; i < 25; ++i) {
    const bool longer = i % 5 == 0;
    core::Limit limit = quota(5);
    limit.window = Seconds{longer ? 600 : 10};
    ASSERT_TRUE(ask(*backend.limits.store, "key" + std::to_string(100 + i), limit));
  }
  const Instant later = kLimitStart + Seconds{60};
  std::size_t seen = 0;
  std::size_t dropped = 0;
  for (bool done = false; !done;) {
    const auto swept = backend.limits.sweep->sweep(10, later);
    ASSERT_TRUE(swept) << swept.error().what;
    EXPECT_LE(swept->seen, 10U);
    seen += swept->seen;
    dropped += swept->dropped;
    done = swept->round_done;
    ASSERT_LE(seen, 25U);
  }
  EXPECT_EQ(seen, 25U);
  EXPECT_EQ(dropped, 20U);
  EXPECT_EQ(backend.limits.store->list("", 100, later)->size(), 5U);
  const auto again = backend.limits.sweep->sweep(100, later);
  EXPECT_EQ(again->seen, 5U);
  EXPECT_EQ(again->dropped, 0U);
  EXPECT_TRUE(again->round_done);
}

// A row that only holds the place of a new key is idle from the start: the sweep takes it away
// under the hands of those who are about to lock it.
TEST_P(SharedUsageSuite, a_sweep_does_not_disturb_decisions) {
  const Backend backend = node();
  ASSERT_NE(backend.limits.sweep, nullptr);
  std::atomic<bool> stop = false;
  std::thread sweeper([&] {
    while (!stop) EXPECT_TRUE(backend.limits.sweep->sweep(50, kLimitStart));
  });
  std::atomic<int> admitted = 0;
  std::vector<std::thread> clients;
  for (int thread = 0; thread < 3; ++thread) {
    clients.emplace_back([&, thread] {
      for (int i = 0; i < 60; ++i) {
        const std::string own = "new" + std::to_string(thread) + "-" + std::to_string(i);
        LimitBatch batch;
        batch.add({{.key = own, .limit = quota(1)}, {.key = "hot", .limit = quota(100)}}, 1);
        admitted += batch.apply(*backend.limits.store, kLimitStart)[0].admitted ? 1 : 0;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  sweeper.join();
  EXPECT_EQ(admitted, 100);
}

TEST_P(SharedUsageSuite, nodes_that_are_alive_are_counted_and_those_that_leave_are_not) {
  NodeRegistry& nodes = *node().limits.nodes;
  constexpr Millis kWithin = Seconds{600};
  EXPECT_EQ(nodes.beat("one", kWithin), 1U);
  EXPECT_EQ(node().limits.nodes->beat("two", kWithin), 2U);
  EXPECT_EQ(nodes.beat("one", kWithin), 2U);
  ASSERT_TRUE(nodes.leave("two"));
  ASSERT_TRUE(nodes.leave("never came"));
  EXPECT_EQ(nodes.beat("one", kWithin), 1U);
  EXPECT_EQ(nodes.beat("three", kWithin), 2U);
  // Whoever did not say so within the last millisecond.
  const runtime::Stopwatch watch;
  while (watch.seconds() < 0.005) std::this_thread::yield();
  EXPECT_EQ(nodes.beat("four", Millis{1}), 1U);
  EXPECT_EQ(nodes.beat("four", kWithin), 1U);
}

TEST_P(SharedUsageSuite, nodes_beat_at_the_same_time) {
  const Backend backend = node();
  std::vector<std::thread> beating;
  for (int thread = 0; thread < 4; ++thread) {
    beating.emplace_back([&, thread] {
      for (int i = 0; i < 40; ++i) {
        const auto count = backend.limits.nodes->beat("node" + std::to_string(thread), Millis{1});
        EXPECT_TRUE(count) << count.error().what;
      }
    });
  }
  for (std::thread& thread : beating) thread.join();
}

}  // namespace penstock::store::conformance
