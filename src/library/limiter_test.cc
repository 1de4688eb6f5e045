#include <penstock/limiter.h>
#include <penstock/version.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "core/limits/decide.h"
#include "core/limits/limit.h"
#include "library/policies.h"
#include "library/test_limiter.h"
#include "store/limits/memory/memory_limits.h"

namespace penstock {
namespace {

using namespace std::chrono_literals;

TEST(Library, says_the_version_of_the_tree) {
  std::string version;
  std::ifstream("VERSION") >> version;
  EXPECT_EQ(version, penstock::version());
}

TEST(Limiter, allows_a_burst_and_then_as_fast_as_it_refills) {
  Limiter limiter = make();
  ASSERT_TRUE(limiter.set_policy(bucket("a", 3)));
  for (int i = 2; i >= 0; --i) {
    const Decision decision = limiter.check("a");
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.remaining, i);
  }
  const Decision denied = limiter.check("a");
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.limit, 3);
  EXPECT_EQ(denied.remaining, 0);
  EXPECT_EQ(denied.retry_after, 100ms);
  EXPECT_EQ(denied.reset_after, 300ms);
  EXPECT_EQ(denied.key, "a");
  simulated_micros += 99'999;
  EXPECT_FALSE(limiter.check("a"));
  simulated_micros += 1;
  EXPECT_TRUE(limiter.check("a"));
}

TEST(Limiter, holds_unknown_keys_to_the_default) {
  Limiter limiter = make({.default_policy = bucket("", 1)});
  EXPECT_TRUE(limiter.check("x"));
  EXPECT_FALSE(limiter.check("x"));
  EXPECT_TRUE(limiter.check("y"));
  ASSERT_TRUE(limiter.set_default_policy(bucket("", 2)));
  EXPECT_TRUE(limiter.check("x")) << "a change keeps the usage and opens at once";
  EXPECT_FALSE(limiter.check("x"));
}

TEST(Limiter, finds_the_most_specific_policy) {
  Limiter limiter = make();
  for (const auto& [key, capacity] :
       {std::pair{"*", 1}, {"user:*", 2}, {"user:*|route:/pay", 3}, {"user:7", 4}}) {
    ASSERT_TRUE(limiter.set_policy(bucket(key, capacity)));
  }
  EXPECT_EQ(limiter.peek("other").limit, 1);
  EXPECT_EQ(limiter.peek("user:1").limit, 2);
  EXPECT_EQ(limiter.peek("user:1|route:/pay").limit, 3);
  EXPECT_EQ(limiter.peek("user:7").limit, 4);
  EXPECT_EQ(limiter.policy_for("user:7").capacity, 4);
  EXPECT_EQ(limiter.policy_count(), 4U);
  EXPECT_TRUE(limiter.remove_policy("user:7"));
  EXPECT_FALSE(limiter.remove_policy("user:7"));
  EXPECT_EQ(limiter.peek("user:7").limit, 2);
}

TEST(Limiter, charges_all_keys_or_none) {
  Limiter limiter = make();
  ASSERT_TRUE(limiter.set_policy(bucket("wide", 10)));
  ASSERT_TRUE(limiter.set_policy(bucket("narrow", 1)));
  const std::array<std::string_view, 3> keys = {"wide", "narrow", "wide"};
  const Decision first = limiter.check_all(keys);
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.key, "narrow");
  const Decision second = limiter.check_all(keys);
  EXPECT_FALSE(second.allowed);
  EXPECT_EQ(second.key, "narrow");
  EXPECT_EQ(second.retry_after, 100ms);
  EXPECT_EQ(limiter.peek("wide").remaining, 9) << "a repeated key counts once, a denial not at all";
}

TEST(Limiter, looks_without_charging_and_gives_back) {
  Limiter limiter = make();
  ASSERT_TRUE(limiter.set_policy(bucket("a", 5)));
  EXPECT_TRUE(limiter.check("a", 4));
  EXPECT_EQ(limiter.peek("a").remaining, 1);
  EXPECT_EQ(limiter.check("a", 0).remaining, 1);
  EXPECT_EQ(limiter.give_back("a", 3).remaining, 4);
  EXPECT_EQ(limiter.give_back("a", 1'000).remaining, 5);
  EXPECT_EQ(limiter.check("a", 6).retry_after, kNever);
  EXPECT_TRUE(limiter.check("a", 5));
  EXPECT_TRUE(limiter.reset("a"));
  EXPECT_FALSE(limiter.reset("a"));
  EXPECT_EQ(limiter.peek("a").remaining, 5);
}

TEST(Limiter, never_denies_in_shadow) {
  Limiter limiter = make();
  Policy shadow = bucket("a", 1);
  shadow.shadow = true;
  ASSERT_TRUE(limiter.set_policy(shadow));
  EXPECT_FALSE(limiter.check("a").shadow_denied);
  const Decision decision = limiter.check("a");
  EXPECT_TRUE(decision.allowed);
  EXPECT_TRUE(decision.shadow_denied);
  std::array<Decision, 1> decisions;
  limiter.check_batch(std::array{Check{"a"}}, decisions);
  EXPECT_TRUE(decisions[0].allowed && decisions[0].shadow_denied);
}

TEST(Limiter, refuses_bad_questions_and_charges_nothing) {
  Limiter limiter = make();
  const std::string long_key(513, 'x');
  EXPECT_EQ(limiter.check("").error, CheckError::bad_key);
  EXPECT_EQ(limiter.check(long_key).error, CheckError::bad_key);
  EXPECT_EQ(limiter.check("a", -1).error, CheckError::bad_cost);
  EXPECT_EQ(limiter.check("a", 1'000'000'000'001).error, CheckError::bad_cost);
  EXPECT_EQ(limiter.give_back("a", -1).error, CheckError::bad_cost);
  EXPECT_EQ(limiter.check_all({}).error, CheckError::bad_key_count);
  EXPECT_EQ(limiter.check_all(std::array<std::string_view, 2>{"a", ""}).error, CheckError::bad_key);
  std::vector<std::string> texts;
  for (int i = 0; i < 17; ++i) texts.push_back("k" + std::to_string(i));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  EXPECT_EQ(limiter.check_all(keys).error, CheckError::bad_key_count);
  const std::array checks = {Check{"a"}, Check{""}, Check{"b", -1}, Check{"c"}};
  std::array<Decision, 4> decisions;
  decisions[1].allowed = true;
  limiter.check_batch(checks, decisions);
  EXPECT_TRUE(decisions[0].allowed && decisions[3].allowed);
  EXPECT_EQ(decisions[3].key, "c");
  EXPECT_FALSE(decisions[1].allowed || decisions[2].allowed);
  EXPECT_EQ(decisions[1].error, CheckError::bad_key);
  EXPECT_EQ(decisions[2].error, CheckError::bad_cost);
  EXPECT_EQ(limiter.key_count(), 2U);
}

TEST(Limiter, names_the_field_of_a_bad_policy) {
  Limiter limiter = make();
  const auto field = [&](const Policy& policy) { return limiter.set_policy(policy).error().field; };
  EXPECT_EQ(field(bucket("", 1)), "key");
  EXPECT_EQ(field(bucket("a", 0)), "capacity");
  EXPECT_EQ(field(bucket("a", 1, "0")), "refill");
  EXPECT_EQ(field(bucket("a", 1, "fast")), "refill");
  EXPECT_EQ(field({.key = "a", .refill = refill_every(0s, 1)}), "refill.period");
  EXPECT_EQ(field({.key = "a", .refill = refill_every(1s, 0)}), "refill.tokens");
  EXPECT_EQ(field({.key = "a", .window = 0s}), "window");
  EXPECT_EQ(field({.key = "a", .algorithm = static_cast<Algorithm>(9)}), "algorithm");
  EXPECT_EQ(Limiter::make({.max_keys = 0}).error().field, "max_keys");
  EXPECT_EQ(Limiter::make({.default_policy = bucket("", 0)}).error().what,
            "capacity: must be from 1 to 1000000000000");
}

TEST(Limiter, shows_a_policy_as_it_was_written) {
  for (const Refill& refill : {refill_per_second("2.5"), refill_every(60s, 7), refill_every(1s, 10),
                               refill_every(1'000'000s, 1)}) {
    const Policy policy{.key = "a", .algorithm = Algorithm::gcra, .refill = refill, .shadow = true};
    const Policy shown = library::policy_of(*library::draft_of(policy));
    EXPECT_EQ(shown.key, "a");
    EXPECT_EQ(shown.algorithm, Algorithm::gcra);
    EXPECT_TRUE(shown.shadow);
    EXPECT_EQ(shown.refill.per_second, refill.per_second);
    if (!refill.per_second.empty()) continue;
    EXPECT_EQ(shown.refill.tokens, refill.tokens);
    EXPECT_EQ(shown.refill.period, refill.period);
  }
}

TEST(Limiter, keeps_to_its_bound_of_keys) {
  Limiter limiter = make({.max_keys = 100});
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(limiter.check("key" + std::to_string(i)));
  EXPECT_LE(limiter.key_count(), 116U);  // each stripe keeps at least one
}

TEST(Limiter, stands_still_when_its_clock_goes_back_or_mad) {
  Limiter limiter = make({.default_policy = bucket("", 1)});
  EXPECT_TRUE(limiter.check("a"));
  for (const std::int64_t micros : {kStart - 3'600'000'000, std::int64_t{0}, std::int64_t{-5}}) {
    simulated_micros = micros;
    EXPECT_FALSE(limiter.check("a"));
  }
  simulated_micros = INT64_MAX;
  EXPECT_TRUE(limiter.check("a"));
}

// The same questions to a Limiter, one by one or in batches, and to the core, which has no table,
// no lock and no policies.
TEST(Limiter, decides_as_the_core_does) {
  constexpr std::array kAlgorithms = {Algorithm::token_bucket, Algorithm::gcra,
                                      Algorithm::sliding_window, Algorithm::sliding_window_counter,
                                      Algorithm::fixed_window};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    Limiter limiter = make();
    std::vector<core::Limit> limits;
    std::vector<core::LimitState> states(kAlgorithms.size());
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
      keys.push_back("key" + std::to_string(i));
      const Policy policy{.key = keys[i],
                          .algorithm = kAlgorithms[i],
                          .capacity = rng.between(1, 20),
                          .refill = refill_every(Seconds{rng.between(1, 9)}, rng.between(1, 30)),
                          .window = Seconds{rng.between(1, 5)}};
      ASSERT_TRUE(limiter.set_policy(policy));
      limits.push_back(library::draft_of(policy)->limit);
    }
    for (int step = 0; step < 500; ++step) {
      simulated_micros += rng.between(0, 300'000);
      const std::size_t i = rng.below(keys.size());
      const std::int64_t cost = rng.between(-2, 5);
      const core::LimitStatus expected =
          core::charge(limits[i], states[i], cost, Instant{Micros{simulated_micros}});
      Decision decision;
      if (cost < 0) {
        decision = limiter.give_back(keys[i], -cost);
      } else if (rng.below(2) == 0) {
        limiter.check_batch(std::array{Check{keys[i], cost}}, {&decision, 1});
      } else {
        decision = limiter.check(keys[i], cost);
      }
      ASSERT_EQ(decision.allowed, expected.admitted) << seed << ' ' << step;
      ASSERT_EQ(decision.limit, expected.limit);
      ASSERT_EQ(decision.remaining, expected.remaining) << seed << ' ' << step;
      ASSERT_EQ(decision.retry_after, expected.retry_after) << seed << ' ' << step;
      ASSERT_EQ(decision.reset_after, expected.reset_after) << seed << ' ' << step;
    }
  }
}

// Over several keys, against the store that the daemon has.
TEST(Limiter, decides_over_several_keys_as_the_daemon_does) {
  Rng rng(7);
  Limiter limiter = make({.default_policy = bucket("", 7, "3")});
  const core::Limit limit = library::draft_of(bucket("x", 7, "3"))->limit;
  SimulatedClock clock{Instant{Micros{kStart}}};
  store::memory::MemoryLimits daemon({}, clock);
  for (int step = 0; step < 5'000; ++step) {
    const Micros passed{rng.between(0, 200'000)};
    simulated_micros += passed.count();
    clock.advance(passed);
    std::vector<std::string> texts;
    for (std::uint64_t k = 0; k < 5; ++k) {
      if (rng.below(2) == 0) texts.push_back("key" + std::to_string(k));
    }
    if (texts.empty()) continue;
    const std::vector<std::string_view> keys(texts.begin(), texts.end());
    std::vector<store::LimitCheck> checks;
    for (const std::string_view key : keys) checks.push_back({.key = key, .limit = limit});
    std::vector<core::LimitStatus> statuses(keys.size());
    const std::int64_t cost = rng.between(0, 3);
    const store::LimitRequest request{.checks = checks, .cost = cost, .statuses = statuses};
    Result<store::LimitAnswer> answer;
    daemon.apply({&request, 1}, std::nullopt, {&answer, 1});
    const Decision decision = limiter.check_all(keys, cost);
    ASSERT_EQ(decision.allowed, answer->admitted) << step;
    ASSERT_EQ(decision.key, keys[answer->bound]) << step;
    ASSERT_EQ(decision.remaining, statuses[answer->bound].remaining) << step;
    ASSERT_EQ(decision.retry_after, statuses[answer->bound].retry_after) << step;
  }
}

TEST(Limiter, counts_exactly_on_eight_threads_while_policies_change) {
  constexpr std::int64_t kCapacity = 5'000;
  Limiter limiter = make({.max_keys = 1'000});
  ASSERT_TRUE(limiter.set_policy({.key = "shared*",
                                  .algorithm = Algorithm::fixed_window,
                                  .capacity = kCapacity,
                                  .window = 3'600s}));
  std::atomic<std::int64_t> allowed = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        Rng rng(t + 1);
        std::array<Decision, 3> decisions;
        std::int64_t mine = 0;
        for (int i = 0; i < 3'000; ++i) {
          switch (rng.below(6)) {
            case 0:
              mine +=
                  limiter.check_all(std::array<std::string_view, 2>{"shared", "shared2"}).allowed;
              break;
            case 1:
              limiter.check_batch(std::array{Check{"shared"}, Check{"other"}, Check{"more"}},
                                  decisions);
              mine += decisions[0].allowed;
              break;
            case 2:
              EXPECT_TRUE(limiter.set_policy(bucket("p" + std::to_string(rng.below(9)), 5)));
              break;
            case 3:
              limiter.remove_policy("p" + std::to_string(rng.below(9)));
              limiter.check("flood" + std::to_string(rng.below(5'000)));
              break;
            default:
              mine += limiter.check("shared").allowed;
          }
        }
        allowed += mine;
      });
    }
  }
  EXPECT_EQ(allowed, kCapacity);
  EXPECT_EQ(limiter.peek("shared").remaining, 0);
}

TEST(Limiter, lives_on_several_threads_in_turn_with_others) {
  std::vector<Limiter> limiters;
  for (int i = 0; i < 20; ++i) limiters.push_back(make({.default_policy = bucket("", i + 1)}));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 20; ++i) {
          EXPECT_EQ(limiters[static_cast<std::size_t>(i)].peek("a").limit, i + 1);
        }
      }
    });
  }
}

TEST(Limiter, follows_the_clock_of_the_machine_by_itself) {
  Limiter limiter = *Limiter::make({.default_policy = bucket("", 1, "1000")});
  EXPECT_TRUE(limiter.check("a"));
  while (!limiter.check("a")) std::this_thread::yield();  // within a millisecond or so
}

}  // namespace
}  // namespace penstock
