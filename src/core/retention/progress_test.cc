#include "core/retention/progress.h"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

constexpr Instant kNoon{Seconds{1'750'000'000}};

// A process that looks every minute; its clock may be off.
struct Life {
  Progress progress;
  Instant wall = kNoon;

  void live(Micros time, Micros step = minutes{1}) {
    for (; time > Micros{0}; time -= step) {
      wall += step;
      progress.advance(wall, step);
    }
  }
  Instant old(Millis keep) const { return progress.older_than(keep, wall); }
};

TEST(Progress, nothing_is_old_at_first) {
  Progress progress;
  EXPECT_EQ(progress.older_than(days{1}, kNoon), kInstantMin);
  progress.advance(kNoon, Micros{0});
  EXPECT_EQ(progress.older_than(days{1}, kNoon + days{30}), kInstantMin);
}

TEST(Progress, follows_a_steady_clock_a_sixteenth_late) {
  Life life;
  life.live(days{40}, hours{1});
  for (const Millis keep : {Millis{hours{12}}, Millis{days{1}}, Millis{days{30}}}) {
    EXPECT_LE(life.old(keep), life.wall - keep);
    EXPECT_GE(life.old(keep), life.wall - keep - keep / 8 - hours{2}) << keep.count();
  }
}

TEST(Progress, a_jump_ahead_makes_nothing_old) {
  Life life;
  life.live(days{2}, hours{1});
  const Instant written = life.wall;
  life.wall += days{100};
  life.live(minutes{10});
  EXPECT_LT(life.old(days{90}), written);
  EXPECT_LE(life.old(days{1}), written - days{1} + minutes{10});
  life.wall -= days{100};
  life.live(minutes{10});
  EXPECT_LE(life.old(days{1}), life.wall - days{1});
  EXPECT_EQ(life.old(days{90}), kInstantMin);
}

TEST(Progress, a_restart_with_the_clock_ahead_makes_nothing_old) {
  Life life;
  life.live(days{2}, hours{1});
  const Instant written = life.wall;
  Life next{.progress = Progress({life.progress.marks().begin(), life.progress.marks().end()}),
            .wall = life.wall + days{100}};
  next.progress.advance(next.wall, Micros{0});
  next.live(minutes{3});
  EXPECT_LT(next.old(days{2}), written);
}

// What is written after the clock was set back is not taken for what was written before.
TEST(Progress, a_clock_that_was_ahead_for_long_leaves_no_marks_behind) {
  Life life;
  life.live(days{2}, hours{1});
  life.wall += days{100};
  life.live(days{10}, hours{1});
  life.wall -= days{100};
  const Instant written = life.wall;
  life.live(hours{5});
  EXPECT_LT(life.old(days{1}), written);
  life.wall += days{100};
  life.live(minutes{10});
  EXPECT_LT(life.old(days{1}), written) << "by the marks of the first time";
  life.wall -= days{100};
  life.live(days{2}, hours{1});
  EXPECT_GT(life.old(days{1}), written) << "it goes on from there";
}

TEST(Progress, a_clock_that_was_behind_is_no_reason_to_keep_things_for_ever) {
  Life life{.progress = {}, .wall = Instant{}};
  life.live(hours{2});
  const Instant behind = life.wall;
  life.wall = kNoon;
  life.live(days{3}, hours{1});
  EXPECT_GT(life.old(days{1}), behind);
  EXPECT_GT(life.old(days{1}), kNoon);
}

// Each of them measures the same time.
TEST(Progress, nodes_that_share_it_count_time_once) {
  Life life;
  life.progress.advance(life.wall, Micros{0});
  for (int i = 0; i < 100; ++i) {
    life.wall += minutes{1};
    life.progress.advance(life.wall, minutes{1});
    life.progress.advance(life.wall + Seconds{1}, minutes{1});
  }
  EXPECT_LE(life.progress.marks().back().progress, minutes{100} + Seconds{1});
}

TEST(Progress, stays_small) {
  Life life;
  life.live(days{1}, Seconds{10});
  life.live(days{365}, hours{1});
  EXPECT_LT(life.progress.marks().size(), 400U);
  for (std::size_t i = 1; i < life.progress.marks().size(); ++i) {
    EXPECT_LT(life.progress.marks()[i - 1].wall, life.progress.marks()[i].wall);
    EXPECT_LE(life.progress.marks()[i - 1].progress, life.progress.marks()[i].progress);
  }
}

}  // namespace
}  // namespace penstock::core
