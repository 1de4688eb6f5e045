// SlotConfigStore, sentence by sentence.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

TEST_P(SlotSuite, find_knows_no_config_that_was_not_put) {
  const auto found = configs().find(config_name("default"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  const auto history = configs().history(config_name("default"), 10);
  ASSERT_TRUE(history);
  EXPECT_TRUE(history->empty());
  const auto list = configs().list(ConfigName{}, 10);
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->empty());
}

TEST_P(SlotSuite, put_makes_the_first_version) {
  const Instant now = kNoon + Micros{5};
  const auto change =
      configs().put(draft({.name = "card", .pool = "bank", .max = 7, .size = Millis{1'234}}), now);
  ASSERT_TRUE(change) << change.error().what;
  EXPECT_FALSE(change->previous);
  EXPECT_EQ(change->current, (core::SlotConfig{.name = config_name("card"),
                                               .pool = pool_name("bank"),
                                               .max_per_window = 7,
                                               .window_size = Millis{1'234},
                                               .version = 1,
                                               .active = true,
                                               .effective_from = now}));
  const auto found = configs().find(config_name("card"));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, change->current);
}

TEST_P(SlotSuite, put_without_a_pool_takes_the_name) {
  core::SlotConfigDraft nameless = draft({.name = "card"});
  nameless.pool = PoolName{};
  const auto change = configs().put(nameless, kNoon);
  ASSERT_TRUE(change) << change.error().what;
  EXPECT_EQ(change->current.pool, pool_name("card"));
}

TEST_P(SlotSuite, put_adds_a_version_and_deactivates_the_one_before) {
  core::SlotConfig first = given({.max = 1}, kNoon);
  const auto change = configs().put(draft({.max = 2}), kNoon + Seconds{1});
  ASSERT_TRUE(change) << change.error().what;
  EXPECT_EQ(change->current.version, 2);
  EXPECT_TRUE(change->current.active);
  EXPECT_EQ(change->current.effective_from, kNoon + Seconds{1});
  first.active = false;
  EXPECT_EQ(change->previous, first);
  const auto found = configs().find(config_name("default"));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, change->current);
}

TEST_P(SlotSuite, put_of_the_same_values_is_a_version_too) {
  given({.max = 1});
  EXPECT_EQ(given({.max = 1}).version, 2);
}

TEST_P(SlotSuite, put_without_now_takes_the_stores_own_clock) {
  const Instant before = harness().now();
  const auto change = configs().put(draft({}), std::nullopt);
  ASSERT_TRUE(change) << change.error().what;
  EXPECT_GE(change->current.effective_from, before);
  EXPECT_LE(change->current.effective_from, harness().now());
}

TEST_P(SlotSuite, history_is_newest_first_and_at_most_the_limit) {
  for (int max = 1; max <= 12; ++max) given({.max = max}, kNoon + Seconds{max});
  given({.name = "default2"});
  const auto history = configs().history(config_name("default"), 100);
  ASSERT_TRUE(history);
  ASSERT_EQ(history->size(), 12U);
  for (std::size_t i = 0; i < history->size(); ++i) {
    const core::SlotConfig& config = (*history)[i];
    EXPECT_EQ(config.version, 12 - static_cast<std::int64_t>(i));
    EXPECT_EQ(config.max_per_window, config.version);
    EXPECT_EQ(config.active, i == 0);
    EXPECT_EQ(config.effective_from, kNoon + Seconds{config.version});
  }
  const auto two = configs().history(config_name("default"), 2);
  ASSERT_TRUE(two);
  EXPECT_EQ(*two, std::vector(history->begin(), history->begin() + 2));
  const auto none = configs().history(config_name("default"), 0);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST_P(SlotSuite, list_shows_the_active_configs_by_name) {
  for (const char* name : {"b", "a", "aa", "B", "a!"}) given({.name = name});
  given({.name = "a", .max = 99});
  const auto list = configs().list(ConfigName{}, 100);
  ASSERT_TRUE(list);
  std::vector<std::string> names;
  for (const core::SlotConfig& config : *list) {
    names.push_back(config.name.str());
    EXPECT_TRUE(config.active);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"B", "a", "a!", "aa", "b"}));
  EXPECT_EQ((*list)[1].max_per_window, 99);
  const auto page = configs().list(config_name("a"), 2);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->size(), 2U);
  EXPECT_EQ((*page)[0].name, config_name("a!"));
  EXPECT_EQ((*page)[1].name, config_name("aa"));
}

TEST_P(SlotSuite, put_refuses_two_window_sizes_in_one_pool) {
  given({.name = "card", .pool = "bank", .size = Seconds{4}});
  const auto other =
      configs().put(draft({.name = "wire", .pool = "bank", .size = Seconds{5}}), kNoon);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::conflict);
  EXPECT_FALSE(other.error().what.empty());
  const auto found = configs().find(config_name("wire"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  // With the same size it may, and once the other one has left the pool.
  given({.name = "wire", .pool = "bank", .size = Seconds{4}});
  given({.name = "card", .pool = "elsewhere", .size = Seconds{4}});
  EXPECT_EQ(given({.name = "wire", .pool = "bank", .size = Seconds{5}}).version, 2);
}

TEST_P(SlotSuite, put_changes_the_window_size_of_a_pool_without_assignments) {
  given({.size = Seconds{4}});
  given({.size = Seconds{10}});
  const Assignment answer = assigned({.event = "e1", .at = kNoon + Seconds{10}});
  EXPECT_EQ(answer.slot.window_start, kNoon + Seconds{10});
  EXPECT_EQ(used("default", Seconds{10}), 1);
}

TEST_P(SlotSuite, put_keeps_the_window_size_until_the_last_used_window_has_ended) {
  given({.size = Seconds{4}});
  assigned({.event = "e1", .at = kNoon});
  assigned({.event = "e2", .at = kNoon + Seconds{40}});
  const Instant end = kNoon + Seconds{44};
  for (const Instant now : {kNoon - Seconds{100}, kNoon + Seconds{4}, end - Micros{1}}) {
    const auto change = configs().put(draft({.size = Seconds{5}}), now);
    ASSERT_FALSE(change);
    EXPECT_EQ(change.error().kind, ErrorKind::conflict);
    EXPECT_FALSE(change.error().what.empty());
  }
  const auto found = configs().find(config_name("default"));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->version, 1);
  EXPECT_EQ((*found)->window_size, Seconds{4});
  // Another maximum is no change of size.
  EXPECT_EQ(given({.max = 3, .size = Seconds{4}}, kNoon).version, 2);
  EXPECT_EQ(given({.size = Seconds{5}}, end).version, 3);
}

TEST_P(SlotSuite, put_into_a_pool_with_open_windows_of_another_size_is_refused) {
  given({.name = "card", .pool = "bank", .size = Seconds{4}});
  assigned({.event = "e1", .config = "card", .at = kNoon + Seconds{40}});
  given({.name = "card", .pool = "elsewhere", .size = Seconds{4}});
  // No active config is left in the pool, but its windows are.
  const auto change =
      configs().put(draft({.name = "wire", .pool = "bank", .size = Seconds{5}}), kNoon);
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().kind, ErrorKind::conflict);
  given({.name = "wire", .pool = "bank", .size = Seconds{4}});
}

TEST_P(SlotSuite, moving_a_config_to_another_pool_starts_with_empty_windows) {
  given({.name = "card", .max = 1});
  assigned({.event = "e1", .config = "card"});
  given({.name = "card", .pool = "bank", .max = 1});
  EXPECT_EQ(assigned({.event = "e2", .config = "card"}).slot.window_start, kNoon);
  EXPECT_EQ(used("card"), 1);
  EXPECT_EQ(used("bank"), 1);
}

TEST_P(SlotSuite, puts_from_several_threads_make_one_line_of_versions) {
  constexpr int kThreads = 4;
  constexpr int kPuts = 10;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPuts; ++i) {
        EXPECT_TRUE(configs().put(draft({.max = i + 1}), kNoon));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto history = configs().history(config_name("default"), 1'000);
  ASSERT_TRUE(history);
  ASSERT_EQ(history->size(), static_cast<std::size_t>(kThreads * kPuts));
  for (std::size_t i = 0; i < history->size(); ++i) {
    EXPECT_EQ((*history)[i].version, static_cast<std::int64_t>(history->size() - i));
    EXPECT_EQ((*history)[i].active, i == 0);
  }
}

}  // namespace penstock::store::conformance
