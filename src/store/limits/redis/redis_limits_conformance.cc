// What the shared suites leave out: numbers beyond doubles, full logs, batches beyond one call, how
// keys expire, and how many calls a batch takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "core/limits/limit.h"
#include "runtime/clocks.h"
#include "store/limits/conformance/limit_harness.h"
#include "store/redis/testing/ask.h"
#include "store/redis/testing/test_server.h"

namespace penstock::store::redis {
namespace {

using conformance::Decision;
using conformance::LimitAsk;
using conformance::LimitBatch;
using core::LimitType;

class OnRedis : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server().problem().empty()) << server().problem();
    store_ = open_store({.url = server().url(),
                         .cluster = GetParam(),
                         .connections = 8,
                         .deadline = Seconds{20},
                         .key_prefix = prefix_});
  }
  static TestServer& server() { return GetParam() ? TestServer::cluster() : TestServer::single(); }
  LimitStore& limits() { return *store_->backend().limits.store; }

  // Asks the store and the core, and compares.
  void expect_as_core(const std::vector<std::pair<std::vector<LimitAsk>, std::int64_t>>& requests,
                      Instant now) {
    LimitBatch batch;
    std::vector<Decision> expected;
    for (const auto& [asks, cost] : requests) {
      std::vector<core::LimitUse> uses;
      for (const LimitAsk& each : asks) {
        uses.push_back({.limit = &each.limit, .state = &model_[each.key], .shadow = each.shadow});
      }
      Decision decision{.statuses = std::vector<core::LimitStatus>(asks.size())};
      const core::Verdict verdict = core::charge_all(uses, cost, now, decision.statuses);
      decision.admitted = verdict.admitted;
      decision.bound = verdict.bound;
      expected.push_back(std::move(decision));
      batch.add(asks, cost);
    }
    const std::vector<Decision> real = batch.apply(limits(), now);
    for (std::size_t i = 0; i < real.size(); ++i) expect_same(real[i], expected[i]);
  }
  void expect_same_use(Instant now) {
    for (const auto& [key, state] : model_) {
      const auto use = limits().find(key, now);
      ASSERT_TRUE(use) << use.error().what;
      EXPECT_EQ(use->has_value(), !core::idle(state, now)) << key;
      if (!*use) continue;
      EXPECT_EQ((*use)->used, core::used(state, now)) << key;
      EXPECT_EQ((*use)->window_count, core::window_count(state, now)) << key;
    }
  }
  static void expect_same(const Decision& real, const Decision& model) {
    EXPECT_EQ(real.admitted, model.admitted);
    EXPECT_EQ(real.bound, model.bound);
    for (std::size_t i = 0; i < model.statuses.size(); ++i) {
      EXPECT_EQ(real.statuses[i].admitted, model.statuses[i].admitted);
      EXPECT_EQ(real.statuses[i].remaining, model.statuses[i].remaining);
      EXPECT_EQ(real.statuses[i].retry_after, model.statuses[i].retry_after);
      EXPECT_EQ(real.statuses[i].reset_after, model.statuses[i].reset_after);
    }
  }

  const std::string prefix_ = fresh_prefix();
  std::unique_ptr<RedisStore> store_;
  std::map<std::string, core::LimitState> model_;
};

INSTANTIATE_TEST_SUITE_P(Redis, OnRedis, testing::Values(false, true),
                         [](const auto& subject) { return subject.param ? "cluster" : "redis"; });

// Of any size that a number can have, small ones as likely as huge ones.
std::int64_t any_size(Rng& rng, std::int64_t max) {
  std::int64_t top = 1;
  for (std::uint64_t digits = rng.below(16); digits > 0 && top < max / 10; --digits) top *= 10;
  return rng.between(1, std::min(max, 10 * top));
}

core::Limit any_limit(Rng& rng, LimitType type) {
  core::Limit limit{.type = type,
                    .capacity = any_size(rng, core::kCapacityMax),
                    .window = Seconds{any_size(rng, core::kLimitWindowMax.count())}};
  do {
    limit.refill = core::rate_per(any_size(rng, 1'000'000'000), Seconds{any_size(rng, 100'000'000)})
                       .value_or(core::Rate{});
  } while (!core::valid(limit.refill));
  return limit;
}

TEST_P(OnRedis, decides_as_the_core_does_whatever_the_numbers) {
  for (const std::uint64_t seed : {101, 102, 103, 104, 105, 106}) {
    Rng rng(seed);
    Instant now = conformance::kLimitStart + Micros{rng.between(0, 1'000'000'000)};
    std::map<std::string, core::Limit> limits_of;
    const std::string tag = seed % 2 == 0 ? "{one}" : "";
    for (int step = 0; step < 120; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      now += Micros{rng.below(3) == 0 ? 0 : any_size(rng, 100'000'000'000)};
      std::vector<std::pair<std::vector<LimitAsk>, std::int64_t>> requests;
      for (std::uint64_t count = 1 + rng.below(12); count > 0; --count) {
        std::vector<LimitAsk> asks;
        std::int64_t capacity = core::kCapacityMax;
        const std::uint64_t first = rng.below(10);
        for (std::uint64_t i = 0; i <= rng.below(3); ++i) {
          const std::string key =
              tag + std::to_string(seed) + "k" + std::to_string((first + i) % 10);
          const auto [known, fresh] = limits_of.try_emplace(key);
          if (fresh || rng.below(40) == 0) {
            known->second = any_limit(rng, conformance::kLimitTypes[(first + i) % 5]);
          }
          asks.push_back({.key = key, .limit = known->second, .shadow = rng.below(8) == 0});
          capacity = std::min(capacity, known->second.capacity);
        }
        std::int64_t cost = rng.between(1, std::max<std::int64_t>(capacity / 3, 1));
        if (rng.below(10) == 0) cost = 0;
        if (rng.below(10) == 0) cost = -cost;
        if (rng.below(30) == 0) cost = rng.below(2) == 0 ? INT64_MAX : INT64_MIN;
        requests.emplace_back(std::move(asks), cost);
      }
      expect_as_core(requests, now);
      if (step % 20 == 19) expect_same_use(now);
      if (HasFailure()) return;
    }
  }
}

// The number that times `value` leaves 1 when divided by `modulus`, which shares no factor with it.
std::int64_t inverse(std::int64_t value, std::int64_t modulus) {
  std::int64_t a = value % modulus;
  std::int64_t b = modulus;
  std::int64_t x = 1;
  std::int64_t y = 0;
  while (a > 1) {
    const std::int64_t quotient = a / b;
    a = std::exchange(b, a - quotient * b);
    x = std::exchange(y, x - quotient * y);
  }
  return (x % modulus + modulus) % modulus;
}

// Shares one part above or below a whole number, which doubles alone cannot tell from it.
TEST_P(OnRedis, rounds_shares_of_the_window_before_exactly) {
  Rng rng(9);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Seconds window{rng.between(10'000'000, core::kLimitWindowMax.count())};
    const std::int64_t length = Micros{window}.count();
    std::int64_t count = rng.between(800'000'000'000, 999'999'999'999);
    while (std::gcd(count, length) != 1) ++count;
    const core::Limit limit{.type = LimitType::sliding_window_counter,
                            .capacity = core::kCapacityMax,
                            .window = window};
    const Instant start{
        Micros{(conformance::kLimitStart.time_since_epoch().count() / length + 1) * length}};
    const std::string key = "share" + std::to_string(i);
    const auto one = [&](std::int64_t cost, Instant now) {
      expect_as_core({{{{.key = key, .limit = limit}}, cost}}, now);
    };
    one(count, start + Micros{5});
    const std::int64_t one_above = inverse(count, length);  // count * it = 1 more than a multiple
    const std::int64_t rest = i % 2 == 0 ? one_above : length - one_above;
    one(0, start + Micros{2 * length - rest});
    const std::int64_t room_above = inverse(length, count);
    const std::int64_t room = i % 2 == 0 ? room_above : count - room_above;
    one(limit.capacity - room, start + Micros{length});
  }
}

TEST_P(OnRedis, keeps_an_exact_log_through_growing_shifting_and_joining) {
  const core::Limit limit{
      .type = LimitType::sliding_window, .capacity = 100'000, .window = Seconds{100}};
  Instant now = conformance::kLimitStart;
  Rng rng(7);
  // Some 300 entries live at a time; then time goes on faster, and most expire.
  for (int i = 0; i < 1'800 && !HasFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    now += Micros{i % 600 < 400 ? 300'000 : 3'000'000 - i};
    std::vector<std::pair<std::vector<LimitAsk>, std::int64_t>> requests;
    requests.push_back({{{.key = "log", .limit = limit}}, rng.between(1, 90)});
    if (i % 7 == 0) requests.push_back({{{.key = "log", .limit = limit}}, -rng.between(1, 300)});
    if (i % 11 == 0) requests.push_back({{{.key = "log", .limit = limit}}, 99'000});
    if (i % 13 == 0) requests.push_back({{{.key = "log", .limit = limit}}, 0});
    expect_as_core(requests, now);
  }
  expect_same_use(now);
}

TEST_P(OnRedis, joins_the_entries_of_a_full_log_as_the_core_does) {
  const core::Limit limit{
      .type = LimitType::sliding_window, .capacity = 1'000'000, .window = Seconds{3'600}};
  Instant now = conformance::kLimitStart;
  for (int i = 0; i < 4'400 && !HasFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    now += Micros{700'001};
    expect_as_core({{{{.key = "log", .limit = limit}}, 1 + i % 3}}, now);
  }
  expect_same_use(now);
}

TEST_P(OnRedis, a_batch_beyond_one_call_is_decided_in_order) {
  Rng rng(5);
  std::vector<std::pair<std::vector<LimitAsk>, std::int64_t>> requests;
  for (int i = 0; i < 3'000; ++i) {
    std::vector<LimitAsk> asks;
    const std::uint64_t key = rng.below(300);
    const std::string name = i % 3 == 0 ? "hot" : "k" + std::to_string(key);
    asks.push_back({.key = name, .limit = bucket_of(i % 3 == 0 ? 900 : 3)});
    if (i % 50 == 0) asks.push_back({.key = "also", .limit = bucket_of(20)});
    requests.emplace_back(std::move(asks), 1);
  }
  expect_as_core(requests, conformance::kLimitStart);
}

TEST_P(OnRedis, every_key_expires_by_itself) {
  for (const LimitType type : conformance::kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    const core::Limit limit = conformance::limit_of(type, 5);
    ASSERT_TRUE(ask(*store_, key, limit).value_or(false));
    ASSERT_TRUE(ask(*store_, key, limit).value_or(false));
    const int millis = std::atoi(server().cli("-c PTTL " + prefix_ + key).c_str());
    EXPECT_GT(millis, 0) << key;
    EXPECT_LE(millis, 21'000) << key << ": two windows of ten seconds and the grace";
    EXPECT_EQ(used_of(*store_, key), 2);
  }
}

TEST_P(OnRedis, takes_the_time_of_the_server) {
  const core::Limit limit = fixed_of(3, Seconds{3'600});
  const std::array<LimitCheck, 1> checks = {LimitCheck{.key = "clock", .limit = limit}};
  std::array<core::LimitStatus, 1> statuses;
  const LimitRequest request{.checks = checks, .cost = 1, .statuses = statuses};
  std::vector<Result<LimitAnswer>> answers(1, LimitAnswer{});
  const auto left = [&limit](Instant at) {
    const std::int64_t window = Micros{limit.window}.count();
    return window - at.time_since_epoch().count() % window;
  };
  const std::int64_t before = left(runtime::SystemClock().now());
  limits().apply({&request, 1}, std::nullopt, answers);
  const std::int64_t after = left(runtime::SystemClock().now());
  ASSERT_TRUE(answers[0]);
  if (after > before) GTEST_SKIP() << "the hour ended meanwhile";
  EXPECT_LE(statuses[0].reset_after.count(), before);
  EXPECT_GE(statuses[0].reset_after.count(), after);
}

TEST_P(OnRedis, bytes_that_are_none_of_ours_fail_alone) {
  server().cli("-c SET " + prefix_ + "odd rubbish");
  const Result<bool> odd = ask(*store_, "odd", bucket_of(5));
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(limits().find("odd", std::nullopt).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(ask(*store_, "even", bucket_of(5)), true);
  EXPECT_EQ(limits().reset("odd"), true);
  EXPECT_EQ(ask(*store_, "odd", bucket_of(5)), true);
}

TEST_P(OnRedis, counts_the_nodes_that_are_alive) {
  const auto other = open_store({.url = server().url(),
                                 .cluster = GetParam(),
                                 .deadline = Seconds{20},
                                 .key_prefix = prefix_});
  NodeRegistry& here = *store_->backend().limits.nodes;
  NodeRegistry& there = *other->backend().limits.nodes;
  EXPECT_EQ(here.beat("a", Seconds{60}), 1U);
  EXPECT_EQ(here.beat("a", Seconds{60}), 1U);
  EXPECT_EQ(there.beat("b", Seconds{60}), 2U);
  EXPECT_TRUE(there.leave("b"));
  EXPECT_EQ(here.beat("a", Seconds{60}), 1U);
  EXPECT_EQ(there.beat("b", Seconds{60}), 2U);
  // Silence: the beat of b is older than nothing at all.
  const runtime::Stopwatch watch;
  while (watch.seconds() < 20) {
    if (here.beat("a", Millis{1}) == 1U) break;
  }
  EXPECT_EQ(here.beat("a", Seconds{60}), 1U);
}

TEST_P(OnRedis, says_that_it_is_well) { EXPECT_TRUE(store_->backend().health->check()); }

TEST(RedisBatch, is_one_call_of_one_script) {
  TestServer& server = TestServer::single();
  const auto store =
      open_store({.url = server.url(), .deadline = Seconds{20}, .key_prefix = fresh_prefix()});
  ASSERT_TRUE(ask(*store, "warm", bucket_of(5)));
  server.cli("CONFIG RESETSTAT");
  LimitBatch batch;
  for (int i = 0; i < 64; ++i) {
    batch.add({{.key = "k" + std::to_string(i % 40), .limit = bucket_of(5)},
               {.key = "all", .limit = bucket_of(1'000)}},
              1);
  }
  for (const Decision& decision : batch.apply(*store->backend().limits.store, std::nullopt)) {
    EXPECT_TRUE(decision.admitted);
  }
  const std::string stats = server.cli("INFO commandstats");
  EXPECT_NE(stats.find("cmdstat_evalsha:calls=1,"), stats.npos) << stats;
  EXPECT_NE(stats.find("cmdstat_mget:calls=1,"), stats.npos) << stats;
  EXPECT_NE(stats.find("cmdstat_set:calls=41,"), stats.npos) << stats;
}

}  // namespace
}  // namespace penstock::store::redis
