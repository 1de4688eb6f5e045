#include "store/limits/redis/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/rng.h"
#include "core/limits/decide.h"
#include "core/limits/limit.h"
#include "core/policy/policy.h"
#include "store/limits/redis/policies.h"
#include "wire/described.h"

namespace penstock::store::redis {
namespace {

using core::LimitType;

LimitRecord charged(const core::Limit& limit, int charges, std::int64_t cost) {
  LimitRecord record{.capacity = limit.capacity};
  for (int i = 0; i < charges; ++i) {
    core::charge(limit, record.state, cost, from_epoch_millis(1'750'000'000'000 + i));
  }
  return record;
}

constexpr LimitType kTypes[] = {LimitType::token_bucket, LimitType::gcra, LimitType::sliding_window,
                                LimitType::sliding_window_counter, LimitType::fixed_window};

TEST(RedisValue, keeps_what_it_is_given) {
  for (const LimitType type : kTypes) {
    for (const std::int64_t capacity : {std::int64_t{100}, core::kCapacityMax}) {
      const core::Limit limit{
          .type = type, .capacity = capacity, .refill = {7, 3'000'000}, .window = Seconds{60}};
      const LimitRecord record = charged(limit, 5, capacity / 7);
      const std::string bytes = encode_value(record);
      const Result<LimitRecord> again = decode_value(bytes);
      ASSERT_TRUE(again) << again.error().what;
      EXPECT_EQ(encode_record(*again), encode_record(record));
      const bool other = core::is_bucket(type) && capacity == core::kCapacityMax;
      EXPECT_EQ(bytes[0], other ? 127 : static_cast<char>(type));
      if (!other && type != LimitType::sliding_window) {
        EXPECT_EQ(bytes.size(), 65U);
      }
    }
  }
}

TEST(RedisValue, knows_which_limits_the_scripts_can_judge_by) {
  const auto bucket = [](std::int64_t capacity, core::Rate rate) {
    return fits_script({.type = LimitType::gcra, .capacity = capacity, .refill = rate});
  };
  EXPECT_TRUE(bucket(1'000'000, {1, 1'000'000}));
  EXPECT_TRUE(bucket(kExactMax / 1'000'000, {1, 1'000'000}));
  EXPECT_FALSE(bucket(kExactMax / 1'000'000 + 1, {1, 1'000'000}));
  EXPECT_FALSE(bucket(1, {kExactMax + 1, 1}));
  EXPECT_TRUE(fits_script({.type = LimitType::fixed_window, .capacity = core::kCapacityMax}));
}

TEST(RedisValue, refuses_bytes_that_are_none) {
  for (const LimitType type : kTypes) {
    const core::Limit limit{
        .type = type, .capacity = 100, .refill = {1, 1'000'000}, .window = Seconds{60}};
    const std::string good = encode_value(charged(limit, 3, 2));
    for (std::size_t size = 0; size < good.size(); ++size) {
      EXPECT_FALSE(decode_value(good.substr(0, size))) << size;
    }
    for (const double bad : {-1.0, 0.5, 1e300, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
      for (std::size_t at = 1; at + 8 <= good.size(); at += 8) {
        std::string broken = good.substr(0, at);
        put_double(bad, broken);
        broken += good.substr(at + 8);
        const Result<LimitRecord> record = decode_value(broken);
        ASSERT_FALSE(record) << static_cast<int>(type) << " at " << at;
        EXPECT_EQ(record.error().kind, ErrorKind::corrupt);
      }
    }
  }
  EXPECT_FALSE(decode_value("rubbish"));
  EXPECT_FALSE(decode_value("\x7f"));
}

TEST(RedisValue, survives_any_bytes) {
  Rng rng(3);
  const core::Limit limit{
      .type = LimitType::sliding_window, .capacity = 100, .window = Seconds{60}};
  const std::string good = encode_value(charged(limit, 20, 1));
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (std::uint64_t flips = 1 + rng.below(4); flips > 0; --flips) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    const Result<LimitRecord> record = decode_value(bytes);
    if (record) {
      EXPECT_TRUE(decode_value(encode_value(*record)));
    }
  }
}

TEST(RedisPolicyValue, keeps_what_it_is_given_and_refuses_the_rest) {
  core::PolicyDraft draft = core::default_policy_draft();
  draft.key = "k";
  draft.limit.refill = *core::parse_rate("0.42857");
  draft.refill_text = "0.42857";
  draft.on_store_failure = core::OnStoreFailure::local;
  draft.shadow = true;
  std::string bytes;
  for (const double head : {7.0, 3.0, 1.75e15, 0.0}) put_double(head, bytes);
  const std::string whole = bytes + wire::to_document(draft);
  const Result<core::Policy> policy = decode_policy(whole);
  ASSERT_TRUE(policy) << policy.error().what;
  EXPECT_EQ(policy->id, 7);
  EXPECT_EQ(policy->version, 3);
  EXPECT_EQ(policy->changed, Instant{Micros{1'750'000'000'000'000}});
  EXPECT_FALSE(policy->deleted);
  EXPECT_EQ(policy->draft.limit, draft.limit);
  EXPECT_EQ(policy->draft.refill_text, "0.42857");
  EXPECT_TRUE(policy->draft.shadow);
  EXPECT_EQ(policy->draft.on_store_failure, core::OnStoreFailure::local);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_policy(whole.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace penstock::store::redis
