#include "runtime/connection_health.h"

#include <gtest/gtest.h>

namespace penstock::runtime {
namespace {

constexpr Instant kStart{Seconds{1'000}};

TEST(ConnectionHealth, is_bad_until_the_first_probe_went_well) {
  ConnectionHealth health;
  EXPECT_FALSE(health.check(kStart));
  EXPECT_TRUE(health.on_probe(std::nullopt));
  EXPECT_TRUE(health.check(kStart));
  EXPECT_FALSE(health.on_probe(std::nullopt));
  EXPECT_TRUE(health.on_probe("away"));
  EXPECT_EQ(health.check(kStart).error().what, "away");
}

TEST(ConnectionHealth, tells_of_a_start_that_went_wrong_for_a_while) {
  ConnectionHealth health;
  health.on_probe(std::nullopt);
  health.on_trouble("busy", false, kStart);
  EXPECT_EQ(health.check(kStart + Seconds{9}).error().what, "busy");
  EXPECT_TRUE(health.check(kStart + Seconds{10}));
  health.on_trouble("busy", false, kStart);
  health.on_success();
  EXPECT_TRUE(health.check(kStart));
}

TEST(ConnectionHealth, lets_the_probe_end_only_what_it_would_see) {
  ConnectionHealth health;
  health.on_trouble("away", true, kStart);
  health.on_probe(std::nullopt);
  EXPECT_TRUE(health.check(kStart));
  health.on_trouble("busy", false, kStart);
  health.on_probe(std::nullopt);
  EXPECT_FALSE(health.check(kStart));
}

TEST(ConnectionHealth, counts_for_how_long_nothing_went_through) {
  ConnectionHealth health;
  EXPECT_EQ(health.on_trouble("away", true, kStart), Millis{0});
  EXPECT_EQ(health.on_trouble("away", true, kStart + Seconds{4}), Seconds{4});
  EXPECT_EQ(health.on_trouble("away", true, kStart + Seconds{9}), Seconds{9});
  // Nobody tried for so long that it is a trouble of its own.
  EXPECT_EQ(health.on_trouble("away", true, kStart + Seconds{30}), Millis{0});
  health.on_success();
  EXPECT_EQ(health.on_trouble("away", true, kStart + Seconds{31}), Millis{0});
}

}  // namespace
}  // namespace penstock::runtime
