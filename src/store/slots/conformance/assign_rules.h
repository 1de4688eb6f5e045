// SlotStore::assign, sentence by sentence.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/slots/placement.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

TEST_P(SlotSuite, assign_gives_a_new_event_the_window_it_asks_for) {
  const core::SlotConfig config = given({.max = 10});
  const Instant now = kNoon - Seconds{60} + Micros{123};
  const Assignment answer =
      assigned({.event = "e1", .at = kNoon + Millis{1'500}, .entropy = 7}, now);
  EXPECT_TRUE(answer.fresh);
  EXPECT_EQ(answer.depth, 0);
  EXPECT_EQ(answer.slot.event, event("e1"));
  EXPECT_EQ(answer.slot.config_name, config_name("default"));
  EXPECT_EQ(answer.slot.config_version, config.version);
  EXPECT_EQ(answer.slot.requested, kNoon + Millis{1'500});
  EXPECT_EQ(answer.slot.window_start, kNoon);
  EXPECT_EQ(answer.slot.created, now);
  EXPECT_EQ(answer.slot.status, SlotStatus::assigned);
  EXPECT_GE(answer.slot.scheduled, answer.slot.requested);
  EXPECT_LT(answer.slot.scheduled, kNoon + Seconds{4});
}

TEST_P(SlotSuite, assign_puts_the_event_where_core_and_its_entropy_say) {
  given({.max = 1});
  const std::uint64_t entropy = 0x9e3779b97f4a7c15;
  const Assignment first = assigned({.event = "e1", .entropy = entropy});
  EXPECT_EQ(first.slot.scheduled, kNoon + core::jitter(entropy, Millis{0}, Seconds{4}));
  const Assignment later = assigned({.event = "e2", .entropy = ~entropy});
  EXPECT_EQ(later.slot.window_start, kNoon + Seconds{4});
  EXPECT_EQ(later.slot.scheduled,
            kNoon + Seconds{4} + core::jitter(~entropy, Millis{0}, Seconds{4}));
  EXPECT_EQ(later.depth, 1);
}

TEST_P(SlotSuite, assign_of_no_requests_gives_no_answers) {
  EXPECT_TRUE(slots().assign({}, kNoon).empty());
}

TEST_P(SlotSuite, assign_without_now_takes_the_stores_own_clock) {
  given({});
  const Instant before = harness().now();
  const std::vector<SlotRequest> requests = {request({.event = "e1"})};
  const std::vector<Result<Assignment>> answers = slots().assign(requests, std::nullopt);
  const Instant after = harness().now();
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_TRUE(answers[0]) << answers[0].error().what;
  EXPECT_GE(answers[0]->slot.created, before);
  EXPECT_LE(answers[0]->slot.created, after);
}

TEST_P(SlotSuite, assign_gives_a_known_event_its_slot_whatever_else_is_asked) {
  given({.max = 10});
  given({.name = "other", .max = 10});
  const Slot first = assigned({.event = "e1", .entropy = 1}).slot;
  const std::vector<Ask> repeats = {
      {.event = "e1", .entropy = 1},
      {.event = "e1", .at = kNoon + std::chrono::days{30}, .entropy = 2},
      {.event = "e1", .max_delay = Millis{0}},
      {.event = "e1", .config = "other"},
      {.event = "e1", .config = "unknown"},
  };
  for (const Ask& ask : repeats) {
    const Assignment again = assigned(ask, kNoon + Seconds{9});
    EXPECT_EQ(again.slot, first);
    EXPECT_FALSE(again.fresh);
    EXPECT_EQ(again.depth, 0);
  }
  EXPECT_EQ(used("default"), 1);
  EXPECT_EQ(used("other"), 0);
}

TEST_P(SlotSuite, assign_gives_an_event_named_twice_in_a_batch_one_slot) {
  given({.max = 2});
  const auto answers = assign({{.event = "e1", .entropy = 1},
                               {.event = "e2", .entropy = 2},
                               {.event = "e1", .at = kNoon + Seconds{40}, .entropy = 3},
                               {.event = "e1", .config = "unknown"}});
  for (const auto& answer : answers) ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_TRUE(answers[0]->fresh);
  EXPECT_TRUE(answers[1]->fresh);
  EXPECT_FALSE(answers[2]->fresh);
  EXPECT_FALSE(answers[3]->fresh);
  EXPECT_EQ(answers[2]->slot, answers[0]->slot);
  EXPECT_EQ(answers[3]->slot, answers[0]->slot);
  EXPECT_EQ(windows("default"), (std::vector<WindowUse>{{.start = kNoon, .used = 2}}));
  EXPECT_EQ(all_slots().size(), 2U);
}

TEST_P(SlotSuite, assign_judges_a_repeat_of_a_refused_event_by_itself) {
  given({.max = 1});
  assigned({.event = "full"});
  const auto answers = assign({{.event = "e1", .config = "unknown"},
                               {.event = "e1", .max_delay = Millis{0}},
                               {.event = "e1"},
                               {.event = "e1", .max_delay = Millis{0}}});
  EXPECT_EQ(answers[0].error().kind, ErrorKind::not_found);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::exhausted);
  ASSERT_TRUE(answers[2]) << answers[2].error().what;
  EXPECT_TRUE(answers[2]->fresh);
  ASSERT_TRUE(answers[3]) << answers[3].error().what;
  EXPECT_EQ(answers[3]->slot, answers[2]->slot);
  EXPECT_EQ(used("default"), 2);
}

TEST_P(SlotSuite, assign_answers_in_order_and_fails_requests_alone) {
  given({.max = 1});
  const auto answers = assign({{.event = "z", .entropy = 1},
                               {.event = "nobody", .config = "unknown"},
                               {.event = "a", .entropy = 2},
                               {.event = "late", .max_delay = Seconds{4}},
                               {.event = "m", .entropy = 3}});
  ASSERT_TRUE(answers[0]);
  EXPECT_EQ(answers[0]->slot.event, event("z"));
  EXPECT_EQ(answers[0]->slot.window_start, kNoon);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::not_found);
  ASSERT_TRUE(answers[2]);
  EXPECT_EQ(answers[2]->slot.event, event("a"));
  EXPECT_EQ(answers[2]->slot.window_start, kNoon + Seconds{4});
  ASSERT_FALSE(answers[3]);
  EXPECT_EQ(answers[3].error().kind, ErrorKind::exhausted);
  ASSERT_TRUE(answers[4]);
  EXPECT_EQ(answers[4]->slot.event, event("m"));
  EXPECT_EQ(answers[4]->slot.window_start, kNoon + Seconds{8});
  EXPECT_EQ(all_slots().size(), 3U);
}

TEST_P(SlotSuite, assign_charges_nothing_for_a_refused_event) {
  given({.max = 1});
  EXPECT_EQ(refused({.event = "e1", .config = "unknown"}), ErrorKind::not_found);
  assigned({.event = "e2"});
  EXPECT_EQ(refused({.event = "e3", .max_delay = Millis{0}}), ErrorKind::exhausted);
  EXPECT_EQ(used("default"), 1);
  // Neither is remembered: both may come again.
  EXPECT_TRUE(assigned({.event = "e1"}).fresh);
  EXPECT_TRUE(assigned({.event = "e3"}).fresh);
}

TEST_P(SlotSuite, assign_fills_each_window_exactly_to_its_maximum) {
  given({.max = 3, .size = Seconds{4}});
  std::vector<Ask> asks;
  for (int i = 0; i < 10; ++i) asks.push_back({.event = "e" + std::to_string(i)});
  for (const auto& answer : assign(asks)) ASSERT_TRUE(answer);
  EXPECT_EQ(
      windows("default"),
      (std::vector<WindowUse>{
          {kNoon, 3}, {kNoon + Seconds{4}, 3}, {kNoon + Seconds{8}, 3}, {kNoon + Seconds{12}, 1}}));
}

TEST_P(SlotSuite, assign_offers_only_the_rest_of_the_first_window) {
  given({.max = 10, .size = Seconds{4}});
  // One second of four is left: two places of ten.
  const Instant late = kNoon + Seconds{3};
  EXPECT_EQ(assigned({.event = "e1", .at = late}).slot.window_start, kNoon);
  EXPECT_EQ(assigned({.event = "e2", .at = late}).slot.window_start, kNoon);
  EXPECT_EQ(assigned({.event = "e3", .at = late}).slot.window_start, kNoon + Seconds{4});
  // The window itself has room for those who ask earlier.
  EXPECT_EQ(assigned({.event = "e4", .at = kNoon}).slot.window_start, kNoon);
}

TEST_P(SlotSuite, assign_compares_the_first_window_with_all_that_it_holds) {
  given({.max = 10, .size = Seconds{4}});
  for (int i = 0; i < 5; ++i) assigned({.event = "early" + std::to_string(i)});
  // Half of the window is left, and half of it is taken.
  const Instant half = kNoon + Seconds{2};
  EXPECT_EQ(assigned({.event = "e1", .at = half}).slot.window_start, kNoon + Seconds{4});
}

TEST_P(SlotSuite, assign_searches_windows_that_start_within_max_delay) {
  given({.max = 1, .size = Seconds{4}});
  assigned({.event = "e1"});
  EXPECT_EQ(refused({.event = "e2", .max_delay = Millis{3'999}}), ErrorKind::exhausted);
  EXPECT_EQ(assigned({.event = "e2", .max_delay = Millis{4'000}}).slot.window_start,
            kNoon + Seconds{4});
  EXPECT_EQ(refused({.event = "e3", .max_delay = Millis{7'999}}), ErrorKind::exhausted);
  // Counted from what is asked for, not from the start of its window.
  EXPECT_EQ(assigned({.event = "e3", .at = kNoon + Millis{1}, .max_delay = Millis{7'999}})
                .slot.window_start,
            kNoon + Seconds{8});
}

TEST_P(SlotSuite, assign_finds_the_first_gap_behind_many_full_windows) {
  given({.max = 1, .size = Seconds{1}});
  std::vector<Ask> asks;
  for (int i = 0; i < 700; ++i) {
    // Every hundredth window stays free.
    if (i % 100 == 99) continue;
    asks.push_back({.event = "w" + std::to_string(i), .at = kNoon + Seconds{i}});
  }
  for (const auto& answer : assign(asks)) ASSERT_TRUE(answer);
  for (int gap = 0; gap < 7; ++gap) {
    const Assignment answer = assigned({.event = "g" + std::to_string(gap)});
    EXPECT_EQ(answer.slot.window_start, kNoon + Seconds{gap * 100 + 99});
    EXPECT_EQ(answer.depth, gap * 100 + 99);
  }
  EXPECT_EQ(assigned({.event = "end"}).slot.window_start, kNoon + Seconds{700});
}

TEST_P(SlotSuite, assign_never_looks_before_the_requested_window) {
  given({.max = 5});
  const Assignment answer = assigned({.event = "e1", .at = kNoon + Seconds{400}});
  EXPECT_EQ(answer.slot.window_start, kNoon + Seconds{400});
}

TEST_P(SlotSuite, raising_the_maximum_opens_windows_at_once) {
  given({.max = 1});
  assigned({.event = "e1"});
  EXPECT_EQ(refused({.event = "e2", .max_delay = Millis{0}}), ErrorKind::exhausted);
  given({.max = 2});
  EXPECT_EQ(assigned({.event = "e2", .max_delay = Millis{0}}).slot.window_start, kNoon);
  EXPECT_EQ(refused({.event = "e3", .max_delay = Millis{0}}), ErrorKind::exhausted);
}

TEST_P(SlotSuite, lowering_the_maximum_closes_windows_and_keeps_what_is_assigned) {
  given({.max = 5});
  for (int i = 0; i < 3; ++i) assigned({.event = "e" + std::to_string(i)});
  given({.max = 2});
  EXPECT_EQ(assigned({.event = "late"}).slot.window_start, kNoon + Seconds{4});
  EXPECT_EQ(windows("default").front(), (WindowUse{kNoon, 3}));
  EXPECT_EQ(all_slots().size(), 4U);
  given({.max = 4});
  EXPECT_EQ(assigned({.event = "again"}).slot.window_start, kNoon);
}

// Each on a fresh store: what it did before may change how it looks for known events.
TEST_P(SlotSuite, a_known_event_keeps_its_slot_though_its_config_is_unknown) {
  given({});
  const Slot first = assigned({.event = "e1"}).slot;
  const Assignment again = assigned({.event = "e1", .config = "unknown"});
  EXPECT_EQ(again.slot, first);
  EXPECT_FALSE(again.fresh);
}

TEST_P(SlotSuite, a_known_event_keeps_its_slot_though_there_is_no_room) {
  given({.max = 1});
  const Slot first = assigned({.event = "e1", .max_delay = Millis{0}}).slot;
  const Assignment again = assigned({.event = "e1", .max_delay = Millis{0}});
  EXPECT_EQ(again.slot, first);
  EXPECT_FALSE(again.fresh);
}

TEST_P(SlotSuite, assign_decides_by_the_newest_version) {
  given({.max = 9});
  EXPECT_EQ(assigned({.event = "e1"}).slot.config_version, 1);
  given({.max = 1});
  const Slot next = assigned({.event = "e2"}).slot;
  EXPECT_EQ(next.config_version, 2);
  EXPECT_EQ(next.window_start, kNoon + Seconds{4});
}

TEST_P(SlotSuite, configs_of_one_pool_share_its_windows) {
  given({.name = "card", .pool = "bank", .max = 3});
  given({.name = "wire", .pool = "bank", .max = 2});
  assigned({.event = "e1", .config = "card"});
  assigned({.event = "e2", .config = "card"});
  // Two are there: full for one, not for the other.
  EXPECT_EQ(assigned({.event = "e3", .config = "wire"}).slot.window_start, kNoon + Seconds{4});
  EXPECT_EQ(assigned({.event = "e4", .config = "card"}).slot.window_start, kNoon);
  EXPECT_EQ(windows("bank"), (std::vector<WindowUse>{{kNoon, 3}, {kNoon + Seconds{4}, 1}}));
}

TEST_P(SlotSuite, configs_of_different_pools_share_nothing) {
  given({.name = "a", .max = 1});
  given({.name = "aa", .max = 1});
  given({.name = "a!", .pool = "b", .max = 1});
  for (const char* name : {"a", "aa", "a!"}) {
    EXPECT_EQ(assigned({.event = std::string("e-") + name, .config = name}).slot.window_start,
              kNoon);
  }
  EXPECT_EQ(used("a"), 1);
  EXPECT_EQ(used("aa"), 1);
  EXPECT_EQ(used("b"), 1);
}

TEST_P(SlotSuite, assign_works_at_the_ends_of_time_and_of_window_sizes) {
  given({.name = "day", .max = 10, .size = std::chrono::days{1}});
  given({.name = "ms", .max = 1, .size = Millis{1}});
  const Instant last = kInstantEnd - Millis{1};
  EXPECT_EQ(assigned({.event = "d0", .config = "day", .at = kInstantMin}).slot.window_start,
            kInstantMin);
  // In the last millisecond of its day there is no share left: the next day, after the last year.
  EXPECT_EQ(assigned({.event = "d1", .config = "day", .at = last}).slot.window_start, kInstantEnd);
  EXPECT_EQ(assigned({.event = "m0", .config = "ms", .at = kInstantMin}).slot.scheduled,
            kInstantMin);
  EXPECT_EQ(assigned({.event = "m1", .config = "ms", .at = last}).slot.scheduled, last);
  EXPECT_EQ(assigned({.event = "m2", .config = "ms", .at = last}).slot.scheduled, kInstantEnd);
}

TEST_P(SlotSuite, assign_takes_large_batches) {
  given({.max = 100, .size = Seconds{1}});
  std::vector<Ask> asks;
  for (int i = 0; i < 5'000; ++i) {
    asks.push_back({.event = "e" + std::to_string(i), .entropy = static_cast<std::uint64_t>(i)});
  }
  std::set<Instant> starts;
  for (const auto& answer : assign(asks)) {
    ASSERT_TRUE(answer) << answer.error().what;
    starts.insert(answer->slot.window_start);
  }
  EXPECT_EQ(starts.size(), 50U);
  EXPECT_EQ(used("default", Seconds{1}), 5'000);
}

}  // namespace penstock::store::conformance
