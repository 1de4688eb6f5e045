// SlotStore::find, windows and scan, and what a restart must keep.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

TEST_P(SlotSuite, find_answers_in_order_with_nothing_for_the_unknown) {
  given({});
  const Slot b = assigned({.event = "b", .entropy = 1}).slot;
  const Slot a = assigned({.event = "a", .entropy = 2}).slot;
  const std::vector<EventId> events = {event("b"), event("x"), event("a"), event("b"), event("ab")};
  const auto found = slots().find(events);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(*found, (std::vector<std::optional<Slot>>{b, std::nullopt, a, b, std::nullopt}));
}

TEST_P(SlotSuite, find_of_nothing_is_nothing) {
  const auto found = slots().find({});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

TEST_P(SlotSuite, find_shows_a_slot_as_it_was_assigned) {
  given({.max = 1});
  for (int i = 0; i < 5; ++i) {
    const std::string name = "e" + std::to_string(i);
    const Instant now = kNoon + Micros{i};
    const Assignment answer = assigned({.event = name, .entropy = ~std::uint64_t{0} / 7}, now);
    const std::vector<EventId> events = {event(name)};
    const auto found = slots().find(events);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front(), answer.slot);
  }
}

TEST_P(SlotSuite, windows_are_those_that_start_in_the_range) {
  given({.max = 1});
  for (int i = 0; i < 5; ++i) assigned({.event = "e" + std::to_string(i)});
  const auto start = [](int i) { return kNoon + Seconds{4 * i}; };
  EXPECT_EQ(windows("default", Seconds{4}, start(1), start(3)),
            (std::vector<WindowUse>{{start(1), 1}, {start(2), 1}}));
  EXPECT_EQ(windows("default", Seconds{4}, start(1) + Micros{1}, start(3) + Micros{1}),
            (std::vector<WindowUse>{{start(2), 1}, {start(3), 1}}));
  EXPECT_EQ(windows("default", Seconds{4}, start(1) - Micros{1}, start(2) - Micros{1}),
            (std::vector<WindowUse>{{start(1), 1}}));
  EXPECT_TRUE(windows("default", Seconds{4}, start(3), start(3)).empty());
  EXPECT_TRUE(windows("default", Seconds{4}, start(3), start(1)).empty());
}

TEST_P(SlotSuite, windows_are_ascending_and_at_most_the_limit) {
  given({.max = 2});
  for (int i = 9; i >= 0; --i) {
    assigned({.event = "e" + std::to_string(i), .at = kNoon + Seconds{4 * i}});
  }
  const std::vector<WindowUse> all = windows("default");
  ASSERT_EQ(all.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &WindowUse::start));
  const std::vector<WindowUse> some = windows("default", Seconds{4}, kInstantMin, kInstantEnd, 3);
  EXPECT_EQ(some, (std::vector<WindowUse>(all.begin(), all.begin() + 3)));
  EXPECT_TRUE(windows("default", Seconds{4}, kInstantMin, kInstantEnd, 0).empty());
}

TEST_P(SlotSuite, windows_show_one_pool_and_one_size) {
  given({.name = "p", .max = 5});
  given({.name = "pp", .max = 5});
  assigned({.event = "e1", .config = "p"});
  assigned({.event = "e2", .config = "pp", .at = kNoon + Seconds{8}});
  EXPECT_EQ(windows("p"), (std::vector<WindowUse>{{kNoon, 1}}));
  EXPECT_EQ(windows("pp"), (std::vector<WindowUse>{{kNoon + Seconds{8}, 1}}));
  EXPECT_TRUE(windows("p", Seconds{8}).empty());
  EXPECT_TRUE(windows("ppp").empty());
}

TEST_P(SlotSuite, scan_orders_by_the_bytes_of_the_event) {
  given({.max = 100});
  const std::vector<std::string> ordered = {
      "!", "0", "10", "9", "A", "B", "a", "a!", "a-b", "aa", "b", std::string(128, 'm'), "~"};
  std::vector<Ask> asks;
  for (auto name = ordered.rbegin(); name != ordered.rend(); ++name)
    asks.push_back({.event = *name});
  for (const auto& answer : assign(asks)) ASSERT_TRUE(answer);
  for (const std::size_t page : {1U, 3U, 100U}) {
    std::vector<std::string> seen;
    for (const Slot& slot : all_slots(page)) seen.push_back(slot.event.str());
    EXPECT_EQ(seen, ordered) << "in pages of " << page;
  }
  const auto behind = slots().scan(event("a"), 2);  // after, not from
  ASSERT_TRUE(behind);
  ASSERT_EQ(behind->size(), 2U);
  EXPECT_EQ(behind->front().event, event("a!"));
  const auto between = slots().scan(event("a-"), 1);  // need not exist
  ASSERT_TRUE(between);
  EXPECT_EQ(between->front().event, event("a-b"));
  const auto none = slots().scan(EventId{}, 0);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST_P(SlotSuite, ids_of_every_allowed_character_come_back_as_they_went) {
  std::string all;
  for (char c = '!'; c <= '~'; ++c) all.push_back(c);
  given({.name = all, .pool = all + all.substr(0, 34), .max = 5});
  const Slot slot = assigned({.event = all, .config = all}).slot;
  const std::vector<EventId> events = {event(all)};
  const auto found = slots().find(events);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front(), slot);
  EXPECT_EQ(used(all + all.substr(0, 34)), 1);
}

TEST_P(SlotSuite, a_restart_keeps_slots_counters_and_configs) {
  given({.name = "card", .pool = "bank", .max = 2});
  given({.name = "card", .pool = "bank", .max = 3});
  given({.name = "wire", .max = 1});
  for (int i = 0; i < 20; ++i) {
    assigned({.event = "e" + std::to_string(i), .config = i % 2 == 0 ? "card" : "wire"});
  }
  const std::vector<Slot> slots_before = all_slots();
  const std::vector<WindowUse> bank_before = windows("bank");
  const std::vector<WindowUse> wire_before = windows("wire");
  const auto history_before = configs().history(config_name("card"), 10);
  const auto list_before = configs().list(ConfigName{}, 10);

  harness().reopen();

  EXPECT_EQ(all_slots(), slots_before);
  EXPECT_EQ(windows("bank"), bank_before);
  EXPECT_EQ(windows("wire"), wire_before);
  const auto history_after = configs().history(config_name("card"), 10);
  ASSERT_TRUE(history_before && history_after);
  EXPECT_EQ(*history_after, *history_before);
  const auto list_after = configs().list(ConfigName{}, 10);
  ASSERT_TRUE(list_before && list_after);
  EXPECT_EQ(*list_after, *list_before);
}

TEST_P(SlotSuite, a_restart_goes_on_where_it_stopped) {
  given({.max = 2, .size = Seconds{1}});
  std::vector<Ask> asks;
  for (int i = 0; i < 401; ++i) asks.push_back({.event = "e" + std::to_string(i)});
  assign(asks);
  harness().reopen();
  const Assignment again = assigned({.event = "e400"});
  EXPECT_FALSE(again.fresh);
  // 200 full windows, then one place in the next, then a new one.
  EXPECT_EQ(assigned({.event = "n1"}).slot.window_start, kNoon + Seconds{200});
  EXPECT_EQ(assigned({.event = "n2"}).slot.window_start, kNoon + Seconds{201});
  EXPECT_EQ(given({.max = 3, .size = Seconds{1}}).version, 2);
  EXPECT_EQ(assigned({.event = "n3"}).slot.window_start, kNoon);
}

}  // namespace penstock::store::conformance
