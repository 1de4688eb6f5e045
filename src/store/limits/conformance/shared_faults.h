// What must hold when the engine, or the way to it, fails.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing/tcp_proxy.h"
#include "store/slots/conformance/shared_harness.h"

namespace penstock::store::conformance {

// What a call may take that is over in 200 ms on an idle machine.
inline constexpr double kSoonSeconds = 4.0;
inline constexpr Millis kHasty{200};

TEST_P(SharedFaultSuite, a_silent_engine_costs_a_call_no_more_than_its_deadline) {
  TcpProxy proxy(harness().port());
  const Backend backend = harness().add_node(kHasty, proxy.port());
  ASSERT_TRUE(works_in_the_end(backend));
  proxy.set(TcpProxy::Mode::silent);
  for (int i = 0; i < 8; ++i) {
    const runtime::Stopwatch watch;
    const auto answer = ask(*backend.limits.store, "key", quota(5));
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().kind == ErrorKind::timeout ||
                answer.error().kind == ErrorKind::unavailable)
        << answer.error().what;
    EXPECT_LT(watch.seconds(), kSoonSeconds);
  }
  EXPECT_FALSE(backend.health->check());
  proxy.set(TcpProxy::Mode::pass);
  EXPECT_TRUE(works_in_the_end(backend));
}

TEST_P(SharedFaultSuite, a_slow_engine_costs_a_call_no_more_than_its_deadline) {
  TcpProxy proxy(harness().port());
  const Backend backend = harness().add_node(kHasty, proxy.port());
  ASSERT_TRUE(works_in_the_end(backend));
  proxy.delay(std::chrono::milliseconds{700});
  for (int i = 0; i < 4; ++i) {
    const runtime::Stopwatch watch;
    EXPECT_FALSE(ask(*backend.limits.store, "key", quota(5)));
    EXPECT_LT(watch.seconds(), kSoonSeconds);
  }
  proxy.delay(std::chrono::milliseconds{0});
  EXPECT_TRUE(works_in_the_end(backend));
}

TEST_P(SharedFaultSuite, while_the_engine_is_away_calls_fail_at_once_and_few_of_them_knock) {
  TcpProxy proxy(harness().port());
  const Backend backend = harness().add_node(SharedSuite::kPatience, proxy.port());
  ASSERT_TRUE(works_in_the_end(backend));
  proxy.set(TcpProxy::Mode::refuse);
  const runtime::Stopwatch watch;
  const int before = proxy.accepted();
  int calls = 0;
  while (watch.seconds() < 1.5) {
    const auto answer = ask(*backend.limits.store, "key", quota(5));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable) << answer.error().what;
    ++calls;
  }
  EXPECT_GT(calls, 100);
  EXPECT_LT(proxy.accepted() - before, 40);
  EXPECT_FALSE(backend.health->check());
  proxy.set(TcpProxy::Mode::pass);
  EXPECT_TRUE(works_in_the_end(backend));
}

// A connection that is cut in the middle of a batch: the batch counts wholly or not at all, and its
// keys are free for others at once.
TEST_P(SharedFaultSuite, a_cut_connection_leaves_no_lock_and_no_half_batch) {
  TcpProxy proxy(harness().port());
  const Backend backend = harness().add_node(SharedSuite::kPatience, proxy.port());
  const Backend other = node();
  ASSERT_TRUE(works_in_the_end(backend));
  std::atomic<bool> stop = false;
  std::thread cutter([&] {
    while (!stop) {
      proxy.set(TcpProxy::Mode::refuse);
      const runtime::Stopwatch watch;
      while (watch.seconds() < 0.03) std::this_thread::yield();
      proxy.set(TcpProxy::Mode::pass);
      while (watch.seconds() < 0.2) std::this_thread::yield();
    }
  });
  std::int64_t acknowledged = 0;
  const runtime::Stopwatch watch;
  while (watch.seconds() < 1.5) {
    const LimitCheck checks[] = {{.key = "a", .limit = quota(1'000'000)},
                                 {.key = "b", .limit = quota(1'000'000)}};
    std::array<core::LimitStatus, 2> statuses;
    const LimitRequest request{.checks = checks, .cost = 1, .statuses = statuses};
    std::array<Result<LimitAnswer>, 1> answer{fail(ErrorKind::corrupt, "no answer")};
    backend.limits.store->apply({&request, 1}, kLimitStart, answer);
    acknowledged += answer[0] && answer[0]->admitted ? 1 : 0;
  }
  stop = true;
  cutter.join();
  EXPECT_GT(acknowledged, 0);
  ASSERT_TRUE(ask(*other.limits.store, "a", quota(1'000'000)));
  ASSERT_TRUE(ask(*other.limits.store, "b", quota(1'000'000)));
  const auto a = other.limits.store->find("a", kLimitStart);
  const auto b = other.limits.store->find("b", kLimitStart);
  ASSERT_TRUE(a && *a && b && *b);
  EXPECT_EQ((*a)->used, (*b)->used);
  EXPECT_GE((*a)->used, acknowledged + 1);
}

TEST_P(SharedFaultSuite, limits_hold_again_after_a_crash_of_the_engine) {
  constexpr std::int64_t kCapacity = 1'000'000;
  const Backend backend = node();
  ASSERT_TRUE(works_in_the_end(backend));
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> admitted = 0;
  std::vector<std::thread> clients;
  for (int thread = 0; thread < 3; ++thread) {
    clients.emplace_back([&] {
      while (!stop) {
        const auto answer = ask(*backend.limits.store, "key", quota(kCapacity));
        admitted += answer && answer->admitted ? 1 : 0;
      }
    });
  }
  const runtime::Stopwatch watch;
  while (watch.seconds() < 0.5) std::this_thread::yield();
  harness().kill_engine();
  const std::int64_t before = admitted;
  harness().start_engine();
  EXPECT_TRUE(works_in_the_end(backend));
  while (admitted < before + 20 && watch.seconds() < 60) std::this_thread::yield();
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GE(admitted, before + 20) << "nothing was decided after the crash";
  const auto use = backend.limits.store->find("key", kLimitStart);
  ASSERT_TRUE(use && *use);
  // Usage is soft state: the last moments before the crash may be forgotten, no more than that.
  const std::int64_t forgotten = std::max<std::int64_t>(0, admitted - (*use)->used);
  RecordProperty("admitted", std::to_string(admitted));
  RecordProperty("forgotten", std::to_string(forgotten));
  EXPECT_LE(forgotten, before);
  EXPECT_GE((*use)->used, 20);
}

}  // namespace penstock::store::conformance
