// What one thread may rely on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/limits/conformance/limit_harness.h"

namespace penstock::store::conformance {

using core::LimitStatus;
using core::LimitType;

TEST_P(LimitSuite, admits_up_to_the_capacity_and_says_exactly_when_again) {
  for (const LimitType type : kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    const core::Limit limit = limit_of(type, 3);
    const Instant now = kLimitStart + Seconds{4};
    for (std::int64_t left = 2; left >= 0; --left) {
      const LimitStatus status = ask(key, limit, 1, now);
      EXPECT_TRUE(status.admitted);
      EXPECT_EQ(status.limit, 3);
      EXPECT_EQ(status.remaining, left);
      EXPECT_EQ(status.retry_after, Micros::zero());
    }
    const LimitStatus denied = ask(key, limit, 1, now);
    ASSERT_FALSE(denied.admitted);
    EXPECT_EQ(denied.remaining, 0);
    ASSERT_GT(denied.retry_after, Micros::zero());
    EXPECT_FALSE(ask(key, limit, 1, now + denied.retry_after - Micros{1}).admitted);
    EXPECT_TRUE(ask(key, limit, 1, now + denied.retry_after).admitted);
  }
}

TEST_P(LimitSuite, keys_do_not_disturb_each_other) {
  const core::Limit limit = limit_of(LimitType::gcra, 1);
  for (const char* key : {"a", "A", "a ", "a|b", "ä", "a\xf0\x9f\x98\x80", "a%"}) {
    EXPECT_TRUE(ask(key, limit, 1).admitted) << key;
  }
  EXPECT_TRUE(ask(std::string(512, 'a'), limit, 1).admitted);
  EXPECT_TRUE(ask(std::string(511, 'a') + "b", limit, 1).admitted);
  EXPECT_FALSE(ask(std::string(512, 'a'), limit, 1).admitted);
}

TEST_P(LimitSuite, a_look_writes_nothing_and_is_always_admitted) {
  for (const LimitType type : kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    const core::Limit limit = limit_of(type, 2);
    EXPECT_TRUE(ask(key, limit, 0).admitted);
    EXPECT_FALSE(find(key)) << "a look made a key";
    ASSERT_TRUE(ask(key, limit, 2).admitted);
    const LimitStatus status = ask(key, limit, 0);
    EXPECT_TRUE(status.admitted);
    EXPECT_EQ(status.remaining, 0);
    EXPECT_GT(status.reset_after, Micros::zero());
  }
}

TEST_P(LimitSuite, giving_back_opens_again_but_never_above_the_capacity) {
  for (const LimitType type : kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    const core::Limit limit = limit_of(type, 5);
    EXPECT_TRUE(ask(key, limit, -3).admitted);
    EXPECT_FALSE(find(key)) << "giving back nothing made a key";
    ASSERT_TRUE(ask(key, limit, 4).admitted);
    EXPECT_EQ(ask(key, limit, -1).remaining, 2);
    EXPECT_EQ(ask(key, limit, INT64_MIN).remaining, 5);
    EXPECT_FALSE(ask(key, limit, 6).admitted);
    EXPECT_TRUE(ask(key, limit, 5).admitted);
  }
}

TEST_P(LimitSuite, a_cost_above_the_capacity_is_never_admitted) {
  for (const LimitType type : kLimitTypes) {
    const LimitStatus status = ask("key", limit_of(type, 5), 6);
    EXPECT_FALSE(status.admitted);
    EXPECT_EQ(status.retry_after, core::kNever);
    EXPECT_FALSE(find("key"));
  }
}

TEST_P(LimitSuite, a_changed_capacity_keeps_the_usage) {
  for (const LimitType type : kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    ASSERT_TRUE(ask(key, limit_of(type, 10), 4).admitted);
    EXPECT_EQ(ask(key, limit_of(type, 20), 0).remaining, 16);
    EXPECT_EQ(ask(key, limit_of(type, 3), 0).remaining, 0);
    EXPECT_FALSE(ask(key, limit_of(type, 3), 1).admitted);
    EXPECT_EQ(ask(key, limit_of(type, 10), 0).remaining, 6);
    EXPECT_TRUE(ask(key, limit_of(type, 20), 16).admitted);
  }
}

TEST_P(LimitSuite, a_changed_type_starts_fresh) {
  ASSERT_TRUE(ask("key", limit_of(LimitType::gcra, 5), 5).admitted);
  EXPECT_TRUE(ask("key", limit_of(LimitType::fixed_window, 5), 5).admitted);
  EXPECT_FALSE(ask("key", limit_of(LimitType::fixed_window, 5), 1).admitted);
}

TEST_P(LimitSuite, several_limits_stand_or_fall_together) {
  const auto asks = [](std::int64_t b) {
    return std::vector<LimitAsk>{{.key = "a", .limit = limit_of(LimitType::token_bucket, 10)},
                                 {.key = "b", .limit = limit_of(LimitType::sliding_window, b)},
                                 {.key = "c", .limit = limit_of(LimitType::fixed_window, 8)}};
  };
  Decision decision = ask(asks(4), 3);
  EXPECT_TRUE(decision.admitted);
  EXPECT_EQ(decision.bound, 1U);
  EXPECT_EQ(decision.statuses[0].remaining, 7);
  EXPECT_EQ(decision.statuses[1].remaining, 1);
  EXPECT_EQ(decision.statuses[2].remaining, 5);

  decision = ask(asks(4), 3);
  EXPECT_FALSE(decision.admitted);
  EXPECT_EQ(decision.bound, 1U);
  EXPECT_EQ(decision.statuses[1].retry_after, Seconds{10});
  EXPECT_EQ(used("a"), 3);
  EXPECT_EQ(used("b"), 3);
  EXPECT_EQ(used("c"), 3);

  EXPECT_TRUE(ask(asks(4), -3).admitted);
  EXPECT_EQ(used("a"), 0);
  EXPECT_EQ(used("b"), 0);
  EXPECT_EQ(used("c"), 0);
}

TEST_P(LimitSuite, the_limit_that_bound_is_named) {
  const auto bucket = [](const char* key, std::int64_t capacity) {
    return LimitAsk{.key = key, .limit = limit_of(LimitType::token_bucket, capacity)};
  };
  EXPECT_EQ(ask({bucket("a", 9), bucket("b", 5), bucket("c", 5)}, 1).bound, 1U);
  ASSERT_TRUE(ask({bucket("c", 5)}, 4).admitted);
  EXPECT_EQ(ask({bucket("b", 5), bucket("c", 5)}, 5).bound, 1U) << "the longest wait";
  EXPECT_EQ(ask({bucket("c", 5), bucket("d", 2)}, 3).bound, 1U) << "never is longest";
}

TEST_P(LimitSuite, a_shadow_never_denies_and_counts_only_what_it_would_admit) {
  const std::vector<LimitAsk> asks = {
      {.key = "real", .limit = limit_of(LimitType::token_bucket, 3)},
      {.key = "shadow", .limit = limit_of(LimitType::token_bucket, 2), .shadow = true}};
  ASSERT_TRUE(ask(asks, 2).admitted);
  Decision decision = ask(asks, 1);
  EXPECT_TRUE(decision.admitted);
  EXPECT_EQ(decision.bound, 0U);
  EXPECT_FALSE(decision.statuses[1].admitted);
  EXPECT_EQ(used("shadow"), 2);
  EXPECT_EQ(used("real"), 3);
  decision = ask({{.key = "only", .limit = limit_of(LimitType::gcra, 1), .shadow = true}}, 2);
  EXPECT_TRUE(decision.admitted);
  EXPECT_EQ(decision.bound, 0U);
  EXPECT_FALSE(decision.statuses[0].admitted);
}

TEST_P(LimitSuite, a_batch_is_decided_in_order) {
  LimitBatch batch;
  for (int i = 0; i < 40; ++i)
    batch.add({{.key = "one", .limit = limit_of(LimitType::gcra, 25)}}, 1);
  const std::vector<Decision> decisions = batch.apply(limits(), kLimitStart);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(decisions[i].admitted, i < 25);
    EXPECT_EQ(decisions[i].statuses[0].remaining, std::max(24 - i, 0));
  }
}

TEST_P(LimitSuite, an_empty_batch_does_nothing) { limits().apply({}, kLimitStart, {}); }

TEST_P(LimitSuite, bad_keys_are_refused_alone) {
  const std::string long_key(513, 'k');
  const core::Limit limit = limit_of(LimitType::gcra, 5);
  const std::array<LimitCheck, 3> checks = {LimitCheck{.key = long_key, .limit = limit},
                                            LimitCheck{.key = "", .limit = limit},
                                            LimitCheck{.key = "good", .limit = limit}};
  std::array<LimitStatus, 3> statuses;
  std::array<LimitRequest, 3> requests;
  for (std::size_t i = 0; i < 3; ++i) {
    requests[i] = {.checks = std::span(checks).subspan(i, 1),
                   .cost = 1,
                   .statuses = std::span(statuses).subspan(i, 1)};
  }
  std::vector<Result<LimitAnswer>> answers(3, LimitAnswer{});
  limits().apply(requests, kLimitStart, answers);
  for (const std::size_t bad : {0, 1}) {
    ASSERT_FALSE(answers[bad]);
    EXPECT_EQ(answers[bad].error().kind, ErrorKind::invalid);
    EXPECT_EQ(answers[bad].error().field, "key");
  }
  EXPECT_TRUE(answers[2] && answers[2]->admitted);
}

TEST_P(LimitSuite, a_reset_forgets_the_usage) {
  const core::Limit limit = limit_of(LimitType::sliding_window, 2);
  ASSERT_TRUE(ask("key", limit, 2).admitted);
  ASSERT_TRUE(ask("other", limit, 2).admitted);
  EXPECT_EQ(limits().reset("key"), true);
  EXPECT_FALSE(find("key"));
  EXPECT_EQ(limits().reset("key"), false);
  EXPECT_TRUE(ask("key", limit, 2).admitted);
  EXPECT_FALSE(ask("other", limit, 1).admitted);
}

TEST_P(LimitSuite, what_is_known_of_a_key_can_be_read) {
  for (const LimitType type : kLimitTypes) {
    const std::string key = "type" + std::to_string(static_cast<int>(type));
    EXPECT_FALSE(find(key));
    ASSERT_TRUE(ask(key, limit_of(type, 9), 4).admitted);
    const std::optional<KeyUse> use = find(key);
    ASSERT_TRUE(use);
    EXPECT_EQ(use->key, key);
    EXPECT_EQ(use->limit.type, type);
    EXPECT_EQ(use->limit.capacity, 9);
    EXPECT_EQ(use->limit.window, Seconds{10});
    EXPECT_EQ(use->used, 4);
    EXPECT_EQ(use->window_count, 4);
    EXPECT_FALSE(find(key, kLimitStart + Seconds{20})) << "nothing used, nothing counted";
  }
}

TEST_P(LimitSuite, keys_may_be_any_bytes) {
  const std::vector<std::string> keys = {std::string("\x01\xff\0'\\", 5), "\xc3\xbc{a}",
                                         std::string(512, '\xee'), " "};
  for (const std::string& key : keys) {
    EXPECT_TRUE(ask(key, limit_of(LimitType::gcra, 2), 2).admitted);
    EXPECT_FALSE(ask(key, limit_of(LimitType::gcra, 2), 1).admitted);
    EXPECT_EQ(used(key), 2);
  }
  std::vector<std::string> sorted = keys;
  std::ranges::sort(sorted);
  EXPECT_EQ(listed("", 10), sorted);
  for (const std::string& key : keys) EXPECT_TRUE(limits().reset(key).value_or(false));
}

TEST_P(LimitSuite, keys_are_listed_in_order_and_in_pages) {
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) expected.push_back("key" + std::to_string(i * 7 % 50));
  for (const std::string& key : expected) {
    ASSERT_TRUE(ask(key, limit_of(LimitType::gcra, 5), 1).admitted);
  }
  ask("looked-at", limit_of(LimitType::gcra, 5), 0);
  std::ranges::sort(expected);
  EXPECT_EQ(listed("", 1'000), expected);
  std::vector<std::string> pages;
  for (;;) {
    const std::vector<std::string> page = listed(pages.empty() ? "" : pages.back(), 7);
    if (page.empty()) break;
    EXPECT_LE(page.size(), 7U);
    pages.insert(pages.end(), page.begin(), page.end());
  }
  EXPECT_EQ(pages, expected);
  EXPECT_TRUE(listed("", 0).empty());
  EXPECT_TRUE(listed("key9", 10).empty());
}

}  // namespace penstock::store::conformance
