#include "tool/bench/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace penstock::tool::bench {
namespace {

TEST(LatencyHistogram, is_zero_while_nothing_was_recorded) {
  const LatencyHistogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.at(0.5), Micros{0});
  EXPECT_EQ(empty.min(), Micros{0});
  EXPECT_EQ(empty.max(), Micros{0});
  EXPECT_EQ(empty.mean_micros(), 0);
}

TEST(LatencyHistogram, the_steps_cover_every_value_without_gap_or_overlap) {
  std::uint64_t first = 0;
  for (std::size_t step = 0; step < LatencyHistogram::kSteps; ++step) {
    const std::uint64_t last = LatencyHistogram::end_of(step);
    ASSERT_GE(last, first);
    ASSERT_EQ(LatencyHistogram::step_of(first), step);
    ASSERT_EQ(LatencyHistogram::step_of(last), step);
    ASSERT_LE(last - first, first / 128) << "no step is wider than its error bound";
    first = last + 1;
  }
  EXPECT_EQ(first - 1, static_cast<std::uint64_t>(LatencyHistogram::kMax.count()));
}

TEST(LatencyHistogram, clamps_what_it_cannot_hold) {
  LatencyHistogram histogram;
  histogram.record(Micros{-5});
  histogram.record(Micros::max());
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.min(), Micros{0});
  EXPECT_EQ(histogram.max(), LatencyHistogram::kMax);
  EXPECT_EQ(histogram.at(1), LatencyHistogram::kMax);
}

// Values of all sizes, few or many.
std::vector<std::int64_t> random_values(Rng& rng) {
  std::vector<std::int64_t> values(1 + rng.below(2'000));
  for (std::int64_t& value : values) {
    value = static_cast<std::int64_t>(rng() >> (32 + rng.below(32)));
  }
  return values;
}

TEST(LatencyHistogram, quantiles_are_those_of_the_sorted_values_within_a_128th) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::vector<std::int64_t> values = random_values(rng);
    LatencyHistogram histogram;
    double sum = 0;
    for (const std::int64_t value : values) {
      histogram.record(Micros{value});
      sum += static_cast<double>(value);
    }
    std::ranges::sort(values);
    ASSERT_EQ(histogram.count(), values.size());
    ASSERT_EQ(histogram.min().count(), values.front());
    ASSERT_EQ(histogram.max().count(), values.back());
    ASSERT_EQ(histogram.at(1).count(), values.back());
    ASSERT_NEAR(histogram.mean_micros(), sum / static_cast<double>(values.size()), 1e-3);
    for (const double share : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999}) {
      const double rank = std::ceil(share * static_cast<double>(values.size()));
      const std::int64_t exact = values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
      const std::int64_t read = histogram.at(share).count();
      ASSERT_GE(read, exact) << "seed " << seed << " share " << share;
      ASSERT_LE(read, exact + exact / 128) << "seed " << seed << " share " << share;
    }
  }
}

TEST(LatencyHistogram, adding_up_is_as_if_one_had_recorded_all) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    LatencyHistogram all;
    std::array<LatencyHistogram, 3> parts;
    for (const std::int64_t value : random_values(rng)) {
      all.record(Micros{value});
      parts[rng.below(parts.size())].record(Micros{value});
    }
    LatencyHistogram sum;
    for (const LatencyHistogram& part : parts) sum.add(part);
    ASSERT_EQ(sum.count(), all.count());
    ASSERT_EQ(sum.min(), all.min());
    ASSERT_EQ(sum.max(), all.max());
    for (const double share : {0.01, 0.5, 0.999}) ASSERT_EQ(sum.at(share), all.at(share));
  }
}

}  // namespace
}  // namespace penstock::tool::bench
