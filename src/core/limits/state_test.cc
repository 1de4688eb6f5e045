#include "core/limits/state.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"
#include "base/test_instants.h"
#include "core/limits/decide.h"
#include "core/limits/testing/reference.h"

namespace penstock::core {
namespace {

Limit random_limit(LimitType type, Rng& rng) {
  return {.type = type,
          .capacity = rng.between(1, 1'000),
          .refill = {.tokens = 7, .micros = 3'000'001},
          .window = Seconds{rng.between(1, 100)}};
}

LimitState random_state(const Limit& limit, Rng& rng) {
  LimitState state;
  for (int i = 0; i < 50; ++i) {
    charge(limit, state, rng.between(-3, 10), kStart + Micros{rng.between(0, 20'000'000)});
  }
  adopt(limit, state, kStart);
  return state;
}

std::string encoded(const LimitState& state) {
  std::string bytes;
  encode_state(state, bytes);
  return bytes;
}

TEST(StateCodec, gives_back_what_was_written) {
  Rng rng(1);
  for (const LimitType type : kAllTypes) {
    for (int i = 0; i < 200; ++i) {
      const Limit limit = random_limit(type, rng);
      const LimitState state = random_state(limit, rng);
      const Result<LimitState> read = decode_state(encoded(state));
      ASSERT_TRUE(read) << read.error().what;
      EXPECT_EQ(encoded(*read), encoded(state));
      for (const Micros later : {Micros{0}, Micros{1'234'567}, Micros{30'000'000}}) {
        const Instant now = kStart + Seconds{20} + later;
        EXPECT_EQ(used(*read, now), used(state, now));
        EXPECT_EQ(window_count(*read, now), window_count(state, now));
        const LimitStatus expected = evaluate(limit, state, 5, now);
        const LimitStatus status = evaluate(limit, *read, 5, now);
        EXPECT_EQ(status.admitted, expected.admitted);
        EXPECT_EQ(status.retry_after, expected.retry_after);
      }
    }
  }
}

TEST(StateCodec, writes_a_bucket_in_few_bytes) {
  LimitState state;
  charge({.capacity = 100, .refill = {1, 100'000}, .window = Seconds{60}}, state, 1, kStart);
  EXPECT_LE(encoded(state).size(), 20U);
}

TEST(StateCodec, refuses_every_cut_and_every_extra_byte) {
  Rng rng(2);
  for (const LimitType type : kAllTypes) {
    const std::string bytes = encoded(random_state(random_limit(type, rng), rng));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(decode_state(bytes.substr(0, length)));
    }
    EXPECT_FALSE(decode_state(bytes + '\0'));
  }
}

TEST(StateCodec, survives_garbage) {
  Rng rng(3);
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string bytes = encoded(random_state(random_limit(kAllTypes[rng.below(5)], rng), rng));
    for (std::uint64_t flips = 1 + rng.below(3); flips > 0; --flips) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng());
    }
    Result<LimitState> state = decode_state(bytes);
    if (!state) {
      EXPECT_EQ(state.error().kind, ErrorKind::corrupt);
      continue;
    }
    // Whatever is accepted can be used without harm.
    ++accepted;
    EXPECT_GE(used(*state, kStart), 0);
    EXPECT_GE(window_count(*state, kStart), 0);
    charge(random_limit(state->type, rng), *state, 1, kStart);
    if (i % 50 != 0) i += 9;  // enough of them
  }
  EXPECT_GT(accepted, 100);
}

TEST(StateCodec, refuses_values_that_no_charge_can_make) {
  const auto bytes_of = [](LimitType type, std::initializer_list<std::uint64_t> numbers) {
    std::string bytes{'\1', static_cast<char>(type)};
    for (const std::uint64_t number : numbers) put_number(number, bytes);
    return bytes;
  };
  const auto bucket = LimitType::token_bucket;
  ASSERT_TRUE(decode_state(bytes_of(bucket, {9, 60, 1, 2, 1, 3, 0, 0})));
  EXPECT_FALSE(decode_state(bytes_of(bucket, {9, 60, 1, 3, 1, 3, 0, 0}))) << "part of a token";
  EXPECT_FALSE(decode_state(bytes_of(bucket, {9, 60, 1, 0, 2, 2, 0, 0}))) << "not reduced";
  EXPECT_FALSE(decode_state(bytes_of(bucket, {9, 60, 1, 0, 0, 1, 0, 0}))) << "no rate";
  EXPECT_FALSE(decode_state(bytes_of(bucket, {9, 0, 1, 2, 1, 3, 0, 0}))) << "no window";
  EXPECT_FALSE(decode_state(bytes_of(bucket, {1ULL << 60, 60, 1, 2, 1, 3, 0, 0}))) << "too late";
  const auto log = LimitType::sliding_window;
  ASSERT_TRUE(decode_state(bytes_of(log, {9, 60, 2, 0, 5, 1, 5})));
  EXPECT_FALSE(decode_state(bytes_of(log, {9, 60, 2, 0, 5, 0, 5}))) << "one instant twice";
  EXPECT_FALSE(decode_state(bytes_of(log, {9, 60, 2, 0, 5, 1, 0}))) << "no cost";
  EXPECT_FALSE(decode_state(bytes_of(log, {9, 60, 1, 10, 5}))) << "before the epoch";
  EXPECT_FALSE(decode_state(bytes_of(log, {9, 60, 1ULL << 40}))) << "more than a log holds";
  EXPECT_FALSE(decode_state(bytes_of(LimitType::fixed_window, {9, 60, 1, 1})));
  EXPECT_TRUE(decode_state(bytes_of(LimitType::sliding_window_counter, {9, 60, 1, 1})));
}

}  // namespace
}  // namespace penstock::core
