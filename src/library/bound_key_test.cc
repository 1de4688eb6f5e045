#include <penstock/limiter.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "library/test_limiter.h"

namespace penstock {
namespace {

using namespace std::chrono_literals;

void expect_same(const Decision& bound, const Decision& plain, int step) {
  ASSERT_EQ(bound.allowed, plain.allowed) << step;
  ASSERT_EQ(bound.shadow_denied, plain.shadow_denied) << step;
  ASSERT_EQ(bound.error, plain.error) << step;
  ASSERT_EQ(bound.limit, plain.limit) << step;
  ASSERT_EQ(bound.remaining, plain.remaining) << step;
  ASSERT_EQ(bound.retry_after, plain.retry_after) << step;
  ASSERT_EQ(bound.reset_after, plain.reset_after) << step;
  ASSERT_EQ(bound.key, plain.key) << step;
}

Policy random_policy(Rng& rng, std::string key) {
  constexpr std::array kAlgorithms = {Algorithm::token_bucket, Algorithm::gcra,
                                      Algorithm::sliding_window, Algorithm::sliding_window_counter,
                                      Algorithm::fixed_window};
  Policy policy = bucket(std::move(key), rng.between(1, 9), std::to_string(rng.between(1, 20)));
  policy.algorithm = kAlgorithms[rng.below(kAlgorithms.size())];
  policy.window = std::chrono::seconds{rng.between(1, 3)};
  policy.shadow = rng.below(5) == 0;
  return policy;
}

TEST(BoundKey, shares_the_usage_with_its_limiter) {
  Limiter limiter = make({.default_policy = bucket("", 3)});
  BoundKey key = *limiter.bind("a");
  EXPECT_EQ(key.key(), "a");
  EXPECT_EQ(key.peek().remaining, 3);
  EXPECT_EQ(limiter.key_count(), 0U) << "neither binding nor looking is a use";
  EXPECT_EQ(key.check().remaining, 2);
  EXPECT_EQ(limiter.check("a").remaining, 1);
  EXPECT_EQ(key.check(2).retry_after, 100ms);
  EXPECT_EQ(key.give_back(2).remaining, 3);
  EXPECT_TRUE(limiter.check("a", 3));
  EXPECT_FALSE(key.check());
  EXPECT_TRUE(limiter.reset("a"));
  EXPECT_TRUE(key.check(3));
}

TEST(BoundKey, follows_every_change_of_policies) {
  Limiter limiter = make({.default_policy = bucket("", 3)});
  BoundKey key = *limiter.bind("user:1");
  EXPECT_EQ(key.check().limit, 3);
  ASSERT_TRUE(limiter.set_policy(bucket("user:*", 5)));
  EXPECT_EQ(key.check().limit, 5);
  ASSERT_TRUE(limiter.set_policy(bucket("user:1", 9)));
  EXPECT_EQ(key.check().remaining, 6) << "a change keeps the usage";
  EXPECT_TRUE(limiter.remove_policy("user:1"));
  EXPECT_EQ(key.peek().limit, 5);
  EXPECT_TRUE(limiter.remove_policy("user:*"));
  ASSERT_TRUE(limiter.set_default_policy(bucket("", 4)));
  EXPECT_EQ(key.peek().limit, 4);
}

TEST(BoundKey, refuses_what_the_limiter_refuses) {
  Limiter limiter = make();
  EXPECT_EQ(limiter.bind("").error().field, "key");
  EXPECT_EQ(limiter.bind(std::string(513, 'a')).error().field, "key");
  BoundKey key = *limiter.bind(std::string(512, 'a'));
  EXPECT_EQ(key.check(-1).error, CheckError::bad_cost);
  EXPECT_EQ(key.check(1'000'000'000'001).error, CheckError::bad_cost);
  EXPECT_EQ(key.give_back(-1).error, CheckError::bad_cost);
  EXPECT_FALSE(key.check(-1));
  EXPECT_EQ(key.peek().remaining, key.peek().limit) << "nothing was charged";
}

TEST(BoundKey, outlives_its_limiter_and_may_be_moved) {
  auto limiter = std::make_unique<Limiter>(make({.default_policy = bucket("", 2)}));
  BoundKey key = *limiter->bind("a");
  const std::string_view text = key.key();
  limiter.reset();
  EXPECT_TRUE(key.check());
  BoundKey moved = std::move(key);
  EXPECT_EQ(moved.key().data(), text.data());
  EXPECT_TRUE(moved.check());
  EXPECT_FALSE(moved.check());
}

// Two limiters with one history, one of them asked through bound keys: whatever drops, moves or
// resets entries in between, both say the same.
TEST(BoundKey, decides_as_the_limiter_does_whatever_happens_to_the_table) {
  Rng rng(11);
  constexpr std::uint64_t kBound = 12;
  // Room for all: what a full table pushes out depends on its hash, which no two have in common.
  const LimiterOptions options = {.max_keys = 100'000, .default_policy = bucket("", 5, "50")};
  Limiter plain = make(options);
  Limiter asked = make(options);
  std::vector<BoundKey> keys;
  for (std::uint64_t i = 0; i < kBound; ++i) {
    keys.push_back(*asked.bind("key" + std::string(i * 7, '.') + std::to_string(i)));
  }
  for (int step = 0; step < 40'000; ++step) {
    simulated_micros += static_cast<std::int64_t>(rng.below(2'000) * rng.below(200));
    BoundKey& key = keys[rng.below(kBound)];
    switch (rng.below(20)) {
      case 0: {
        const Policy policy =
            random_policy(rng, rng.below(2) == 0 ? "key*" : std::string(key.key()));
        ASSERT_TRUE(plain.set_policy(policy));
        ASSERT_TRUE(asked.set_policy(policy));
        break;
      }
      case 1:
        ASSERT_EQ(asked.remove_policy(key.key()), plain.remove_policy(key.key()));
        break;
      case 2:
        ASSERT_EQ(asked.reset(key.key()), plain.reset(key.key()));
        break;
      case 3:
        expect_same(key.give_back(2), plain.give_back(key.key(), 2), step);
        break;
      case 4:
        expect_same(key.peek(), plain.peek(key.key()), step);
        break;
      case 5:  // others come, which drops what is idle, and packs what is left
        for (int i = 0; i < 200; ++i) {
          const std::string other = "other" + std::to_string(rng.below(5'000));
          expect_same(asked.check(other), plain.check(other), step);
        }
        break;
      case 6:
        expect_same(asked.check(key.key()), plain.check(key.key()), step);
        break;
      default: {
        const std::int64_t cost = rng.between(0, 3);
        expect_same(key.check(cost), plain.check(key.key(), cost), step);
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST(BoundKey, counts_exactly_on_eight_threads_while_policies_and_keys_change) {
  constexpr std::int64_t kCapacity = 5'000;
  Limiter limiter = make({.max_keys = 1'000});
  ASSERT_TRUE(limiter.set_policy({.key = "shared",
                                  .algorithm = Algorithm::fixed_window,
                                  .capacity = kCapacity,
                                  .window = 3'600s}));
  BoundKey shared = *limiter.bind("shared");
  std::atomic<std::int64_t> allowed = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        Rng rng(t + 1);
        std::int64_t mine = 0;
        for (int i = 0; i < 3'000; ++i) {
          switch (rng.below(6)) {
            case 0:
              mine += limiter.check("shared").allowed;
              break;
            case 1:
              EXPECT_TRUE(limiter.set_policy(bucket("p" + std::to_string(rng.below(9)), 5)));
              break;
            case 2:
              limiter.remove_policy("p" + std::to_string(rng.below(9)));
              break;
            case 3:
              limiter.check("flood" + std::to_string(rng.below(5'000)));
              break;
            default:
              mine += shared.check().allowed;
          }
        }
        allowed += mine;
      });
    }
  }
  EXPECT_EQ(allowed, kCapacity);
  EXPECT_EQ(shared.peek().remaining, 0);
}

}  // namespace
}  // namespace penstock
