#include "runtime/connection_health.h"

#include <gtest/gtest.h>

#include <set>

namespace penstock::runtime {
namespace {

TEST(Backoff, doubles_to_its_longest_and_starts_over_when_reset) {
  Backoff backoff(1);
  Millis step = Backoff::kFirst;
  for (int i = 0; i < 20; ++i) {
    const Millis pause = backoff.next();
    EXPECT_GE(pause, step / 2);
    EXPECT_LE(pause, step);
    step = std::min(Backoff::kLongest, step * 2);
  }
  EXPECT_EQ(backoff.failures(), 20);
  backoff.reset();
  EXPECT_LE(backoff.next(), Backoff::kFirst);
}

TEST(Backoff, differs_from_node_to_node) {
  std::set<Millis> pauses;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(seed);
    for (int i = 0; i < 8; ++i) backoff.next();
    pauses.insert(backoff.next());
  }
  EXPECT_GT(pauses.size(), 25U);
}

}  // namespace
}  // namespace penstock::runtime
