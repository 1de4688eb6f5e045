#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace penstock {
namespace {

// Computed by an independent implementation of the published algorithms. These numbers must never
// change: a seed printed by a failed test, years ago, has to give the same history.
TEST(Rng, gives_the_published_sequence_for_a_seed) {
  const auto first_four = [](std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::uint64_t> numbers(4);
    for (std::uint64_t& number : numbers) number = rng();
    return numbers;
  };
  EXPECT_EQ(first_four(0), (std::vector<std::uint64_t>{0x99ec5f36cb75f2b4, 0xbf6e1f784956452a,
                                                       0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}));
  EXPECT_EQ(first_four(42), (std::vector<std::uint64_t>{0x15780b2e0c2ec716, 0x6104d9866d113a7e,
                                                        0xae17533239e499a1, 0xecb8ad4703b360a1}));
  EXPECT_EQ(first_four(~std::uint64_t{0}),
            (std::vector<std::uint64_t>{0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e,
                                        0xbf658d7e065f3c2f}));
  Rng rng(1);
  for (int i = 0; i < 999; ++i) rng();
  EXPECT_EQ(rng(), 0xb8517c33c344d153);
}

TEST(Rng, derives_pinned_numbers_in_ranges) {
  Rng below(42);
  for (const std::uint64_t expected : {83, 378, 680, 924, 991, 769, 719, 850}) {
    EXPECT_EQ(below.below(1'000), expected);
  }
  Rng between(42);
  for (const std::int64_t expected : {-5, -1, 2, 5, 5, 3, 2, 4}) {
    EXPECT_EQ(between.between(-5, 5), expected);
  }
}

TEST(Rng, mixes_as_splitmix64_does) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdaf);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4);
}

TEST(Rng, works_at_compile_time) {
  static_assert(Rng(0)() == 0x99ec5f36cb75f2b4);
  static_assert(Rng(7).below(1) == 0);
}

TEST(Rng, stays_within_its_bounds) {
  Rng rng(3);
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(rng.below(1), 0u);
    EXPECT_LT(rng.below(7), 7u);
    EXPECT_EQ(rng.between(kLowest, kLowest), kLowest);
    const std::int64_t number = rng.between(-3, 4);
    EXPECT_GE(number, -3);
    EXPECT_LE(number, 4);
  }
}

// 100,000 draws over 10 buckets; a bucket's standard deviation is 95, so 600 is past six of them.
// The seed is fixed: this cannot fail by chance.
TEST(Rng, spreads_evenly) {
  Rng rng(4);
  std::array<int, 10> buckets{};
  for (int i = 0; i < 100'000; ++i) ++buckets[rng.below(buckets.size())];
  for (const int count : buckets) EXPECT_NEAR(count, 10'000, 600);
}

TEST(Rng, sets_every_bit_half_of_the_time) {
  Rng rng(5);
  std::array<int, 64> set{};
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t number = rng();
    for (std::size_t bit = 0; bit < set.size(); ++bit) set[bit] += (number >> bit & 1) != 0;
  }
  for (const int count : set) EXPECT_NEAR(count, 5'000, 300);  // six standard deviations
}

TEST(Rng, gives_unlike_sequences_for_neighbouring_seeds) {
  Rng a(10);
  Rng b(11);
  for (int i = 0; i < 100; ++i) EXPECT_NE(a(), b());
}

TEST(RngDeathTest, stops_on_an_empty_range) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Rng rng(6);
  EXPECT_DEATH(rng.below(0), "bound > 0");
  EXPECT_DEATH(rng.between(1, 0), "low <= high");
}

}  // namespace
}  // namespace penstock
