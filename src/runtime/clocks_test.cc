// The clocks: the machine's, the tests', and the stopwatch.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/time.h"
#include "runtime/clocks.h"

namespace penstock::runtime {
namespace {

TEST(SystemClock, tells_the_time_of_the_machine) {
  using std::chrono::system_clock;
  const SystemClock clock;
  const auto before = std::chrono::floor<Micros>(system_clock::now().time_since_epoch());
  const Micros now = clock.now().time_since_epoch();
  const auto after = std::chrono::ceil<Micros>(system_clock::now().time_since_epoch());
  EXPECT_GE(now, before);
  EXPECT_LE(now, after);
}

TEST(SimulatedClock, stands_still_until_told_to_move) {
  SimulatedClock clock(from_epoch_millis(1'000));
  const Clock& seen = clock;
  EXPECT_EQ(seen.now(), from_epoch_millis(1'000));
  EXPECT_EQ(seen.now(), from_epoch_millis(1'000));
  clock.advance(Micros{1});
  EXPECT_EQ(seen.now(), from_epoch_millis(1'000) + Micros{1});
  clock.advance(Seconds{-1});
  EXPECT_EQ(seen.now(), Instant{Micros{1}});
  clock.set(kInstantEnd);
  EXPECT_EQ(seen.now(), kInstantEnd);
}

TEST(SimulatedClock, loses_no_step_of_several_threads) {
  SimulatedClock clock(kInstantMin);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&clock] {
        for (int i = 0; i < 1'000; ++i) clock.advance(Micros{1});
      });
    }
  }
  EXPECT_EQ(clock.now(), kInstantMin + Micros{4'000});
}

Micros monotonic_for_test{0};
Micros read_monotonic_for_test() noexcept { return monotonic_for_test; }

TEST(SteadyWallClock, follows_the_monotonic_time_and_no_step_of_the_wall_clock) {
  SimulatedClock wall(from_epoch_millis(1'750'000'000'000));
  monotonic_for_test = Seconds{5'000};
  const SteadyWallClock clock(wall, read_monotonic_for_test);
  EXPECT_EQ(clock.now(), wall.now());
  for (const Seconds step : {Seconds{3'600}, Seconds{-3'600}}) {
    wall.advance(step);
    EXPECT_EQ(clock.now(), from_epoch_millis(1'750'000'000'000)) << "a step neither mints";
  }
  wall.set(from_epoch_millis(0));
  monotonic_for_test += Micros{1'234'567};
  EXPECT_EQ(clock.now(), from_epoch_millis(1'750'000'000'000) + Micros{1'234'567}) << "nor freezes";
}

TEST(SteadyWallClock, begins_with_the_time_of_the_machine) {
  const Instant before = SystemClock().now();
  const SteadyWallClock clock;
  const Instant now = clock.now();
  EXPECT_GE(now, before - kTickErrorMax);
  EXPECT_LE(now, SystemClock().now() + kTickErrorMax);
  EXPECT_LE(now, clock.now());
}

TEST(Stopwatch, runs_forward) {
  const Stopwatch watch;
  const double first = watch.seconds();
  EXPECT_GE(first, 0);
  while (watch.seconds() <= first) std::this_thread::yield();
}

}  // namespace
}  // namespace penstock::runtime
