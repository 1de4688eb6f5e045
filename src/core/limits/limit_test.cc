#include "core/limits/limit.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace penstock::core {
namespace {

Rate parsed(std::string_view text) {
  const Result<Rate> rate = parse_rate(text);
  EXPECT_TRUE(rate) << text << ": " << rate.error().what;
  return rate.value_or(Rate{});
}

std::string refused(std::string_view text) {
  const Result<Rate> rate = parse_rate(text);
  EXPECT_FALSE(rate) << text;
  if (rate) return {};
  EXPECT_EQ(rate.error().field, "refillRate");
  return rate.error().what;
}

TEST(ParseRate, keeps_every_decimal) {
  EXPECT_EQ(parsed("10"), (Rate{.tokens = 1, .micros = 100'000}));
  EXPECT_EQ(parsed("0.1"), (Rate{.tokens = 1, .micros = 10'000'000}));
  EXPECT_EQ(parsed("2.5"), (Rate{.tokens = 1, .micros = 400'000}));
  EXPECT_EQ(parsed("0.3"), (Rate{.tokens = 3, .micros = 10'000'000}));
  EXPECT_EQ(parsed("0.000000001"), (Rate{.tokens = 1, .micros = 1'000'000'000'000'000}));
  EXPECT_EQ(parsed("1000000000"), (Rate{.tokens = 1'000, .micros = 1}));
  EXPECT_EQ(parsed("999999999.999999999"),
            (Rate{.tokens = 999'999'999'999'999'999, .micros = 1'000'000'000'000'000}));
}

TEST(ParseRate, reads_exponents_and_ignores_zeros_at_the_ends) {
  EXPECT_EQ(parsed("1e3"), parsed("1000"));
  EXPECT_EQ(parsed("1E+3"), parsed("1000"));
  EXPECT_EQ(parsed("25e-1"), parsed("2.5"));
  EXPECT_EQ(parsed("0.00001e5"), parsed("1"));
  EXPECT_EQ(parsed("1.50000000000000000000000000000000"), parsed("1.5"));
  EXPECT_EQ(parsed("10000000000000000000000000000000e-31"), parsed("1"));
  EXPECT_EQ(parsed("0.0000000000000000000000000000001e31"), parsed("1"));
}

TEST(ParseRate, refuses_what_is_no_number) {
  for (const char* text : {"", ".", ".5", "5.", "1e", "1e+", "01", "+1", "1 ", " 1", "0x1", "1,5",
                           "NaN", "Infinity", "1e1.5", "1-1", "ten"}) {
    EXPECT_EQ(refused(text), "refillRate: must be a decimal number") << text;
  }
}

TEST(ParseRate, refuses_zero_and_less) {
  for (const char* text : {"0", "0.0", "0e9", "-1", "-0", "0e999999999999"}) {
    EXPECT_EQ(refused(text), "refillRate: must be greater than 0") << text;
  }
}

TEST(ParseRate, refuses_too_many_decimals_or_tokens) {
  for (const char* text :
       {"0.0000000001", "1e-10", "1.0000000001", "1e-999999999999", "123456789.1234567891"}) {
    EXPECT_EQ(refused(text), "refillRate: must have at most 9 decimals") << text;
  }
  for (const char* text : {"1000000001", "1000000000.000000001", "1e10", "1e400",
                           "1e999999999999999999999", "12345678901234567890123456789"}) {
    EXPECT_EQ(refused(text), "refillRate: must be at most 1000000000 tokens per second") << text;
  }
}

TEST(RatePer, is_exact_for_any_period) {
  EXPECT_EQ(rate_per(7, Seconds{60}), (Rate{.tokens = 7, .micros = 60'000'000}));
  EXPECT_EQ(rate_per(30, Seconds{60}), (Rate{.tokens = 1, .micros = 2'000'000}));
  EXPECT_EQ(rate_per(1, kRatePeriodMax), (Rate{.tokens = 1, .micros = 1'000'000'000'000'000}));
  EXPECT_TRUE(rate_per(kRatePerSecondMax, Seconds{1}));
}

TEST(RatePer, names_what_is_out_of_range) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count :
       {std::int64_t{0}, std::int64_t{-1}, kRatePerSecondMax + 1, most}) {
    const Result<Rate> rate = rate_per(count, Seconds{1});
    ASSERT_FALSE(rate) << count;
    EXPECT_EQ(rate.error().field, "count");
  }
  for (const Seconds period :
       {Seconds{0}, Seconds{-1}, kRatePeriodMax + Seconds{1}, Seconds::max()}) {
    const Result<Rate> rate = rate_per(1, period);
    ASSERT_FALSE(rate) << period.count();
    EXPECT_EQ(rate.error().field, "period");
  }
}

TEST(MakeLimit, passes_over_the_whole_allowed_range) {
  for (const std::int64_t capacity : {std::int64_t{1}, kCapacityMax}) {
    for (const Seconds window : {kLimitWindowMin, kLimitWindowMax}) {
      const Rate rate{.tokens = 1, .micros = 1'000'000};
      EXPECT_TRUE(make_limit(LimitType::token_bucket, capacity, rate, window));
      EXPECT_TRUE(make_limit(LimitType::fixed_window, capacity, Rate{}, window));
    }
  }
}

TEST(MakeLimit, names_the_field_and_its_range) {
  const Rate rate{.tokens = 1, .micros = 1'000'000};
  const auto problem = [](const Result<Limit>& limit) {
    return limit ? std::string("none") : limit.error().field + "|" + limit.error().what;
  };
  for (const std::int64_t capacity : {std::int64_t{0}, std::int64_t{-5}, kCapacityMax + 1}) {
    EXPECT_EQ(problem(make_limit(LimitType::gcra, capacity, rate, Seconds{60})),
              "capacity|capacity: must be from 1 to " + std::to_string(kCapacityMax));
  }
  for (const Seconds window : {Seconds{0}, Seconds{-1}, kLimitWindowMax + Seconds{1}}) {
    EXPECT_EQ(problem(make_limit(LimitType::sliding_window, 1, rate, window)),
              "windowSeconds|windowSeconds: must be from 1 to " +
                  std::to_string(kLimitWindowMax.count()));
  }
  for (const Rate bad : {Rate{}, Rate{.tokens = -1, .micros = 1}, Rate{.tokens = 2, .micros = 2},
                         Rate{.tokens = 1'001, .micros = 1}, Rate{.tokens = 1, .micros = 0}}) {
    EXPECT_EQ(problem(make_limit(LimitType::token_bucket, 1, bad, Seconds{60})),
              "refillRate|refillRate: must be greater than 0 and at most 1000000000");
  }
}

TEST(Share, of_one_node_is_everything) {
  const Limit limit{.capacity = 7, .refill = {3, 1'000'000}};
  EXPECT_EQ(share_of(limit, 0), limit);
  EXPECT_EQ(share_of(limit, 1), limit);
}

TEST(Share, divides_capacity_and_rate) {
  const Limit share = share_of({.capacity = 10, .refill = {6, 1'000'000}}, 4);
  EXPECT_EQ(share.capacity, 2);
  EXPECT_EQ(share.refill, (Rate{3, 2'000'000}));
}

TEST(Share, leaves_the_window_alone) {
  const Limit share =
      share_of({.type = LimitType::fixed_window, .capacity = 9, .window = Seconds{30}}, 3);
  EXPECT_EQ(share.capacity, 3);
  EXPECT_EQ(share.window, Seconds{30});
}

TEST(Share, has_room_for_one_token) {
  EXPECT_EQ(share_of({.capacity = 2, .refill = {1, 1}}, 5).capacity, 1);
}

TEST(Share, of_all_nodes_is_never_more_than_the_limit) {
  Rng rng(3);
  for (int i = 0; i < 2'000; ++i) {
    const Limit limit{.capacity = rng.between(1'000, kCapacityMax),
                      .refill = {rng.between(1, 1'000'000'000), rng.between(1, 100'000'000'000)}};
    const std::int64_t nodes = rng.between(2, 1'000);
    const Limit share = share_of(limit, static_cast<std::size_t>(nodes));
    EXPECT_LE(share.capacity * nodes, limit.capacity);
    // tokens / micros * nodes <= limit's; in long double, exact enough for a part in 10^15.
    const long double all = static_cast<long double>(share.refill.tokens) * nodes /
                            static_cast<long double>(share.refill.micros);
    const long double limits = static_cast<long double>(limit.refill.tokens) /
                               static_cast<long double>(limit.refill.micros);
    EXPECT_LE(all, limits * (1 + 1e-15L));
    EXPECT_GE(all, limits * (1 - 1e-15L));
  }
}

}  // namespace

}  // namespace penstock::core
