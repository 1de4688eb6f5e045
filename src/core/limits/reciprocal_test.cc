#include "core/limits/reciprocal.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "base/rng.h"

namespace penstock::core {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// Around the multiples of the divisor, where a wrong factor shows, and at both ends.
void expect_quotients(std::uint64_t divisor, Rng& rng) {
  const Reciprocal reciprocal(divisor);
  const auto expect = [&](std::uint64_t dividend) {
    ASSERT_EQ(reciprocal.divide(dividend, divisor), dividend / divisor)
        << dividend << " / " << divisor;
  };
  const std::uint64_t whole = kMax / divisor;
  const std::uint64_t half = (kMax >> 1) / divisor;
  const std::array<std::uint64_t, 9> quotients{0,
                                               1,
                                               2,
                                               half - 1,
                                               half,
                                               whole,
                                               rng.below(whole) + 1,
                                               rng.below(whole) + 1,
                                               rng.below(half | 1) + 1};
  for (const std::uint64_t quotient : quotients) {
    const std::uint64_t dividend = quotient * divisor;
    for (const std::uint64_t near : {dividend - 1, dividend, dividend + 1}) expect(near);
  }
  for (const std::uint64_t end : {kMax, kMax - 1, kMax >> 1, (kMax >> 1) + 1}) expect(end);
  for (int i = 0; i < 20; ++i) expect(rng() >> rng.below(64));
}

TEST(Reciprocal, divides_as_the_processor_does) {
  Rng rng(1);
  for (std::uint64_t divisor = 1; divisor < 5'000; ++divisor) expect_quotients(divisor, rng);
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t divisor : {power - 1, power, power + 1}) {
      if (divisor != 0) expect_quotients(divisor, rng);
    }
  }
  for (int i = 0; i < 50'000; ++i) expect_quotients((rng() >> rng.below(64)) | 1, rng);
}

TEST(Reciprocal, divides_without_having_been_made_too) {
  EXPECT_EQ(Reciprocal().divide(1'000, 7), 142U);
  EXPECT_EQ(Reciprocal().divide(kMax, 1), kMax);
}

}  // namespace
}  // namespace penstock::core
