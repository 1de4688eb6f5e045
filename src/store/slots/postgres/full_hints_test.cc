#include "store/slots/postgres/full_hints.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store::postgres {
namespace {

const ConfigName kName = ConfigName::trusted("default");
constexpr ConfigRef kFirst{.id = 7, .pool = 3, .window_size = Seconds{4}};

Instant at(int window) { return from_epoch_millis(window * 4'000); }

TEST(FullHints, knows_nothing_of_a_config_it_never_saw) {
  FullHints hints;
  EXPECT_EQ(hints.skip(kName, at(0)).config, 0);
  EXPECT_EQ(hints.pool(kName), 0);
  hints.learn(kName, 7, at(1), at(5));
  EXPECT_EQ(hints.skip(kName, at(0)).config, 0);
}

TEST(FullHints, skips_the_run_behind_the_first_window) {
  FullHints hints;
  hints.saw(kName, kFirst);
  hints.learn(kName, 7, at(1), at(5));
  EXPECT_EQ(hints.pool(kName), 3);
  EXPECT_EQ(hints.skip(kName, at(0)).to, at(5));
  EXPECT_EQ(hints.skip(kName, at(0) + Millis{3'999}).to, at(5));
  EXPECT_EQ(hints.skip(kName, at(4)).to, at(5));
  EXPECT_EQ(hints.skip(kName, at(5)).to, at(6));
  EXPECT_EQ(hints.skip(kName, at(0)).config, 7);
}

TEST(FullHints, forgets_full_windows_when_the_config_changes) {
  FullHints hints;
  hints.saw(kName, kFirst);
  hints.learn(kName, 7, at(1), at(5));
  hints.saw(kName, {.id = 8, .pool = 3, .window_size = Seconds{4}});
  EXPECT_EQ(hints.skip(kName, at(0)).to, at(1));
  hints.learn(kName, 7, at(1), at(5));  // an answer that was overtaken
  EXPECT_EQ(hints.skip(kName, at(0)).to, at(1));
  hints.saw(kName, kFirst);
  EXPECT_EQ(hints.skip(kName, at(0)).config, 8);
}

TEST(FullHints, stays_within_its_bound) {
  FullHints hints;
  for (int i = 0; i < 10'000; ++i) {
    hints.saw(ConfigName::trusted("c" + std::to_string(i)), kFirst);
  }
  int known = 0;
  for (int i = 0; i < 10'000; ++i) {
    known += hints.pool(ConfigName::trusted("c" + std::to_string(i))) != 0 ? 1 : 0;
  }
  EXPECT_LE(known, static_cast<int>(FullHints::kConfigsMax));
  EXPECT_GT(known, 0);
}

}  // namespace
}  // namespace penstock::store::postgres
