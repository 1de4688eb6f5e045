// What SlotRetention promises, alone. A backend tests by itself what its load does to pruning.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

inline constexpr Instant kLongAgo = from_epoch_millis(1'000'000'000'000);

class RetentionSuite : public SlotSuite {
 protected:
  void SetUp() override {
    SlotSuite::SetUp();
    ASSERT_NE(harness().backend().slots.retention, nullptr);
    given({.max = 5});
  }

  void assign_many(const std::string& prefix, int count, Instant at) {
    for (int i = 0; i < count; ++i) assigned({.event = prefix + std::to_string(i), .at = at});
  }

  Result<PruneReport> prune(Instant before, const SlotRetention::Sink& sink = {},
                            const std::function<bool()>& should_stop = {}) {
    return harness().backend().slots.retention->prune({.before = before, .step_slots = 4}, sink,
                                                      should_stop);
  }

  // The start of a window that lies ahead.
  Instant ahead() {
    const std::int64_t size = Millis{Seconds{4}}.count();
    return from_epoch_millis(to_epoch_millis(harness().now()) / size * size) +
           std::chrono::hours{1};
  }

  // Counters and rows, which must agree.
  void expect_left(std::size_t slots_left) {
    EXPECT_EQ(all_slots().size(), slots_left);
    EXPECT_EQ(used("default"), static_cast<std::int64_t>(slots_left));
  }
};

TEST_P(RetentionSuite, prune_takes_what_has_ended_and_keeps_the_rest) {
  assign_many("old", 23, kLongAgo);                // five windows, until 20 s later
  assign_many("edge", 5, kLongAgo + Seconds{40});  // [40, 44)
  assign_many("ahead", 7, ahead());
  const std::vector<Slot> before = all_slots();
  std::set<std::string> taken;
  const auto report =
      prune(kLongAgo + Seconds{43}, [&](std::span<const Slot> slots) -> Result<void> {
        EXPECT_LE(slots.size(), 4U);
        for (const Slot& slot : slots) {
          EXPECT_EQ(std::ranges::count(before, slot), 1) << slot.event.str();
          EXPECT_TRUE(taken.insert(slot.event.str()).second) << slot.event.str();
        }
        return {};
      });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, 23U);
  EXPECT_EQ(report->windows, 5U);
  EXPECT_EQ(taken.size(), 23U);
  EXPECT_TRUE(
      std::ranges::all_of(taken, [](const auto& event) { return event.starts_with("old"); }));
  expect_left(12);
  EXPECT_EQ(windows("default").size(), 3U);
  harness().reopen();
  expect_left(12);
}

TEST_P(RetentionSuite, a_pruned_event_is_forgotten_and_its_window_is_empty) {
  assign_many("old", 12, kLongAgo);
  ASSERT_TRUE(prune(kLongAgo + Seconds{4}));
  const Assignment again = assigned({.event = "old1", .at = kLongAgo});
  EXPECT_TRUE(again.fresh);
  EXPECT_EQ(again.slot.window_start, kLongAgo);
  EXPECT_EQ(assigned({.event = "next", .at = kLongAgo}).slot.window_start, kLongAgo);
  // The windows behind it hold what they held.
  EXPECT_EQ(assigned({.event = "behind", .at = kLongAgo + Seconds{4}}).slot.window_start,
            kLongAgo + Seconds{8});
}

TEST_P(RetentionSuite, prune_knows_the_window_size_that_a_slot_was_given_under) {
  assign_many("small", 2, kLongAgo);
  given({.max = 5, .size = std::chrono::hours{1}}, harness().now());
  assigned({.event = "large", .at = kLongAgo});
  const auto report = prune(kLongAgo + Seconds{10});
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, 2U);
  ASSERT_EQ(all_slots().size(), 1U);
  EXPECT_EQ(all_slots().front().event.str(), "large");
}

TEST_P(RetentionSuite, prune_never_reaches_into_the_future) {
  assign_many("ahead", 7, ahead());
  const auto report = prune(kInstantEnd);
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots + report->windows, 0U);
  expect_left(7);
}

TEST_P(RetentionSuite, a_sink_that_fails_keeps_the_slots) {
  assign_many("old", 10, kLongAgo);
  const auto report = prune(kNoon, [](std::span<const Slot>) -> Result<void> {
    return fail(ErrorKind::unavailable, "the disk is full");
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "the disk is full");
  expect_left(10);
  ASSERT_TRUE(prune(kNoon));
  expect_left(0);
}

TEST_P(RetentionSuite, prune_stops_between_steps_when_told_to) {
  assign_many("old", 10, kLongAgo);
  int asked = 0;
  const auto report = prune(kNoon, {}, [&] { return ++asked > 1; });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, 4U);
  EXPECT_EQ(all_slots().size(), 6U);
  EXPECT_GE(used("default"), 6)
      << "a run that was stopped may leave counters too high, never too low";
  ASSERT_TRUE(prune(kNoon));
  expect_left(0);
}

}  // namespace penstock::store::conformance
