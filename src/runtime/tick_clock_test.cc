#include "runtime/tick_clock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock::runtime {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// A world of `ticks_a_micro`, in which the test says what time it is.
class World {
 public:
  explicit World(std::uint64_t ticks_a_micro) : ticks_a_micro_(ticks_a_micro) {}

  TickScale::Reading at(std::int64_t nanos, bool sharp = true) const {
    return {.ticks = ticks_at(nanos), .nanos = nanos, .sharp = sharp};
  }
  std::uint64_t ticks_at(std::int64_t nanos) const {
    return static_cast<std::uint64_t>(nanos) * ticks_a_micro_ / 1'000;
  }

 private:
  std::uint64_t ticks_a_micro_;
};

// Ties three times, an interval apart: two rates that agree.
TickScale trusted(const World& world) {
  TickScale scale;
  for (std::int64_t i = 1; i <= 3; ++i) scale.tie(world.at(i * kMillisecond));
  return scale;
}

TEST(TickScale, trusts_a_rate_only_when_two_intervals_agree) {
  const World world(2'500);
  TickScale scale;
  scale.tie(world.at(1 * kMillisecond));
  EXPECT_FALSE(scale.covers(world.ticks_at(1 * kMillisecond)));
  scale.tie(world.at(2 * kMillisecond));
  EXPECT_FALSE(scale.covers(world.ticks_at(2 * kMillisecond)));
  scale.tie(world.at(3 * kMillisecond));
  EXPECT_TRUE(scale.covers(world.ticks_at(3 * kMillisecond)));
}

TEST(TickScale, extrapolates_one_interval_and_no_longer) {
  for (const std::uint64_t ticks_a_micro : {100ULL, 1'000ULL, 2'450ULL, 5'000ULL}) {
    const World world(ticks_a_micro);
    TickScale scale = trusted(world);
    for (std::int64_t nanos = 3 * kMillisecond; nanos < 4 * kMillisecond - 2'000; nanos += 777) {
      ASSERT_TRUE(scale.covers(world.ticks_at(nanos)));
      ASSERT_NEAR(static_cast<double>(scale.convert(world.ticks_at(nanos))),
                  static_cast<double>(nanos) / 1'000, 1.1);
    }
    EXPECT_FALSE(scale.covers(world.ticks_at(4 * kMillisecond + 10'000)));
    EXPECT_FALSE(scale.covers(world.ticks_at(2 * kMillisecond))) << "nor backwards";
  }
}

TEST(TickScale, never_goes_back_when_the_kernel_clock_slows_down) {
  const World world(2'000);
  TickScale scale = trusted(world);
  const std::int64_t ahead = scale.convert(world.ticks_at(4 * kMillisecond - 1'000));
  // The kernel says that less time went by than the ticks did.
  const std::int64_t tied = scale.tie({.ticks = world.ticks_at(4 * kMillisecond),
                                       .nanos = 4 * kMillisecond - 50'000,
                                       .sharp = true});
  EXPECT_GE(tied, ahead);
  EXPECT_FALSE(scale.covers(world.ticks_at(4 * kMillisecond))) << "5 % is a surprise";
}

TEST(TickScale, distrusts_its_ticks_after_a_jump_and_recovers) {
  const World world(2'000);
  TickScale scale = trusted(world);
  // Suspended: the counter began anew, time went on.
  const std::int64_t later = 5'000 * kMillisecond;
  EXPECT_EQ(scale.tie({.ticks = 17, .nanos = later, .sharp = true}), later / 1'000);
  EXPECT_FALSE(scale.covers(18));
  for (std::int64_t i = 1; i <= 2; ++i) {
    const std::int64_t nanos = i * kMillisecond;
    scale.tie({.ticks = 17 + world.ticks_at(nanos), .nanos = later + nanos, .sharp = true});
  }
  EXPECT_TRUE(scale.covers(18 + world.ticks_at(2 * kMillisecond)));
}

TEST(TickScale, ties_nothing_to_a_reading_that_was_interrupted) {
  const World world(2'000);
  TickScale scale = trusted(world);
  EXPECT_EQ(scale.tie(world.at(4 * kMillisecond, false)), 4 * kMillisecond / 1'000);
  EXPECT_FALSE(scale.covers(world.ticks_at(4 * kMillisecond)));
  scale.tie(world.at(5 * kMillisecond));
  EXPECT_TRUE(scale.covers(world.ticks_at(5 * kMillisecond)));
}

// For about `length` each reading lies between two of the kernel's, give or take the bound. A
// thread may lose the processor between them, which only widens what is allowed.
void follow_the_kernel(Micros length) {
  const Micros end = monotonic_micros() + length;
  Micros last{0};
  for (Micros before = monotonic_micros(); before < end; before = monotonic_micros()) {
    const Micros now = tick_micros();
    const Micros after = monotonic_micros();
    ASSERT_GE(now, before - kTickErrorMax);
    ASSERT_LE(now, after + kTickErrorMax);
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(TickClock, follows_the_kernel_clock_and_never_goes_back) { follow_the_kernel(Millis{300}); }

TEST(TickClock, follows_the_kernel_clock_on_every_thread) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { follow_the_kernel(Millis{100}); });
}

TEST(TickClock, follows_the_kernel_clock_after_a_pause) {
  follow_the_kernel(Millis{10});
  std::this_thread::sleep_for(Millis{50});  // the pause itself
  follow_the_kernel(Millis{10});
}

}  // namespace
}  // namespace penstock::runtime
