#include "wire/throttle_headers.h"

#include <gtest/gtest.h>

namespace penstock::wire {
namespace {

using core::LimitType;

core::Policy policy(std::string key, core::Limit limit, std::int64_t id = 7) {
  return {.id = id, .draft = {.key = std::move(key), .limit = limit}};
}

// 100 tokens, 10 a second.
constexpr core::Limit kBucket{.capacity = 100, .refill = {1, 100'000}, .window = Seconds{60}};
constexpr core::Limit kFixed{.type = LimitType::fixed_window, .capacity = 5, .window = Seconds{30}};

core::ThrottleDecision decision(const core::Policy& p, const core::LimitStatus& status) {
  core::ThrottleDecision out;
  out.allowed = status.admitted;
  out.count = 1;
  out.keys[0] = "k";
  out.policies[0] = &p;
  out.statuses[0] = status;
  return out;
}

std::string lines(const core::ThrottleDecision& d) {
  std::string out;
  append_throttle_headers(out, d);
  return out;
}

std::string name(std::string key) {
  std::string out;
  append_policy_name(out, policy(std::move(key), {}));
  return out;
}

TEST(ThrottleHeaders, stand_on_an_admission) {
  const core::Policy p = policy("user:*", kBucket);
  EXPECT_EQ(
      lines(decision(
          p, {.admitted = true, .limit = 100, .remaining = 97, .reset_after = Micros{250'000}})),
      "X-RateLimit-Limit: 100\r\n"
      "X-RateLimit-Remaining: 97\r\n"
      "RateLimit: \"user:*\";r=97;t=1\r\n"
      "RateLimit-Policy: \"user:*\";q=100;w=10\r\n");
}

TEST(ThrottleHeaders, tell_when_to_retry_in_whole_seconds_rounded_up) {
  const core::Policy p = policy("f", kFixed);
  const auto denied = [&](Micros wait) {
    return lines(decision(p, {.limit = 5, .retry_after = wait, .reset_after = wait}));
  };
  EXPECT_NE(denied(Micros{1}).find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(denied(Micros{1'000'000}).find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(denied(Micros{1'000'001}).find("Retry-After: 2\r\n"), std::string::npos);
  EXPECT_NE(denied(Micros{0}).find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(denied(Micros{29'500'000}).find("\"f\";r=0;t=30\r\n"), std::string::npos);
}

TEST(ThrottleHeaders, give_no_time_for_what_never_comes) {
  const core::Policy p = policy("f", kFixed);
  const std::string text =
      lines(decision(p, {.limit = 5, .remaining = 5, .retry_after = core::kNever}));
  EXPECT_EQ(text.find("Retry-After"), std::string::npos);
  EXPECT_NE(text.find("RateLimit: \"f\";r=5\r\n"), std::string::npos);
}

TEST(ThrottleHeaders, name_each_policy_once_and_the_remaining_of_the_bound) {
  const core::Policy a = policy("a", kBucket);
  const core::Policy b = policy("b", kFixed);
  core::ThrottleDecision d = decision(a, {.admitted = true, .limit = 100, .remaining = 50});
  d.count = 3;
  d.bound = 1;
  d.policies = {&a, &b, &a};
  d.statuses[1] = {.admitted = true, .limit = 5, .remaining = 1, .reset_after = Seconds{3}};
  const std::string text = lines(d);
  EXPECT_NE(text.find("X-RateLimit-Limit: 5\r\n"), std::string::npos);
  EXPECT_NE(text.find("RateLimit: \"b\";r=1;t=3\r\n"), std::string::npos);
  EXPECT_NE(text.find("RateLimit-Policy: \"a\";q=100;w=10, \"b\";q=5;w=30\r\n"), std::string::npos);
}

TEST(PolicyName, is_a_structured_field_string) {
  EXPECT_EQ(name("plain"), "\"plain\"");
  EXPECT_EQ(name("say \"x\\y\""), "\"say \\\"x\\\\y\\\"\"");
  EXPECT_EQ(name("ü%"), "\"%C3%BC%25\"");
  EXPECT_EQ(name(std::string(63, 'x')), "\"" + std::string(63, 'x') + "\"");
  EXPECT_EQ(name(std::string(64, 'x')), "\"policy-7\"");
  EXPECT_EQ(name(std::string(512, '\xc3')), "\"policy-7\"");
}

TEST(QuotaWindow, is_the_time_to_fill_a_bucket) {
  EXPECT_EQ(quota_window(kBucket), Seconds{10});
  EXPECT_EQ(quota_window({.capacity = 1, .refill = {1, 1'000}}), Seconds{1});
  EXPECT_EQ(quota_window({.capacity = 3, .refill = {1, 500'001}}), Seconds{2});
  EXPECT_EQ(quota_window(kFixed), Seconds{30});
  EXPECT_EQ(quota_window({.capacity = core::kCapacityMax, .refill = {1, 1'000'000'000'000}}),
            std::nullopt);
}

TEST(MoreQuota, comes_token_by_token_from_a_bucket) {
  // 3.5 used of 100 at 10 a second: the next whole token is there in 50 ms, all of them in 350.
  EXPECT_EQ(more_quota_after(kBucket, {.limit = 100, .remaining = 96, .reset_after = Millis{350}}),
            Millis{50});
  EXPECT_EQ(more_quota_after(kBucket, {.limit = 100, .remaining = 0, .reset_after = Seconds{10}}),
            Millis{100});
  EXPECT_EQ(more_quota_after(kBucket, {.limit = 100, .remaining = 100}), std::nullopt);
}

TEST(MoreQuota, of_a_sliding_window_is_known_only_when_it_denies) {
  const core::Limit sliding{.type = LimitType::sliding_window, .capacity = 5};
  EXPECT_EQ(more_quota_after(sliding, {.limit = 5, .remaining = 2, .reset_after = Seconds{9}}),
            std::nullopt);
  EXPECT_EQ(more_quota_after(sliding, {.limit = 5, .retry_after = Seconds{4}}), Seconds{4});
}

}  // namespace
}  // namespace penstock::wire
