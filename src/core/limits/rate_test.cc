#include "core/limits/rate.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

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

}  // namespace
}  // namespace penstock::core
