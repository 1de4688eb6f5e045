// SlotLife: confirm, release, expire, and what assign does about them. Included by slot_suite.h.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

class SlotLifeSuite : public SlotSuite {
 protected:
  SlotLife& life() { return *harness().backend().slots.life; }

  Assignment assign_for(const std::string& name, Millis ttl, Instant now = kNoon,
                        Instant at = kNoon + Seconds{60}) {
    SlotRequest one = request({.event = name, .at = at});
    one.ttl = ttl;
    std::vector<Result<Assignment>> answers = slots().assign({&one, 1}, now);
    EXPECT_TRUE(answers.at(0)) << answers[0].error().what;
    return answers[0].value_or(Assignment{});
  }
  SlotStatus status(const std::string& name) {
    const std::vector<EventId> events = {event(name)};
    const auto found = slots().find(events);
    EXPECT_TRUE(found && found->front()) << name;
    return found && found->front() ? found->front()->status : SlotStatus::assigned;
  }
  std::size_t expired(Instant now, std::size_t limit = 1'000) {
    const Result<std::size_t> count = life().expire(limit, now);
    EXPECT_TRUE(count) << count.error().what;
    return count.value_or(0);
  }
};

TEST_P(SlotLifeSuite, confirms_once_and_again) {
  given({});
  const Assignment given_slot = assign_for("a", Seconds{10});
  EXPECT_EQ(given_slot.slot.status, SlotStatus::assigned);
  EXPECT_EQ(given_slot.slot.confirm_by, kNoon + Seconds{10});
  const Result<Slot> confirmed = life().confirm(event("a"), kNoon + Seconds{5});
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  EXPECT_EQ(confirmed->status, SlotStatus::confirmed);
  EXPECT_EQ(confirmed->scheduled, given_slot.slot.scheduled);
  EXPECT_TRUE(life().confirm(event("a"), kNoon + Seconds{50}));
  EXPECT_EQ(expired(kNoon + Seconds{50}), 0U);
  EXPECT_EQ(status("a"), SlotStatus::confirmed);
  EXPECT_EQ(life().confirm(event("none"), kNoon).error().kind, ErrorKind::not_found);
  const Assignment again = assigned({.event = "a"}, kNoon + Seconds{6});
  EXPECT_FALSE(again.fresh);
  EXPECT_EQ(again.slot.status, SlotStatus::confirmed);
}

TEST_P(SlotLifeSuite, confirms_a_slot_without_a_term) {
  given({});
  assigned({.event = "a"});
  EXPECT_EQ(expired(kNoon + std::chrono::days{400}), 0U);
  ASSERT_TRUE(life().confirm(event("a"), kNoon));
  EXPECT_EQ(status("a"), SlotStatus::confirmed);
}

TEST_P(SlotLifeSuite, gives_a_released_place_to_the_next) {
  given({.max = 2});
  const Instant at = kNoon + Seconds{60};
  for (const char* name : {"a", "b", "c", "d", "e"}) assigned({.event = name, .at = at});
  EXPECT_EQ(windows("default")[0].used, 2);
  const Result<Slot> released = life().release(event("a"), kNoon);
  ASSERT_TRUE(released) << released.error().what;
  EXPECT_EQ(released->status, SlotStatus::released);
  EXPECT_EQ(windows("default")[0].used, 1);
  EXPECT_EQ(status("a"), SlotStatus::released);
  const Assignment next = assigned({.event = "f", .at = at});
  EXPECT_EQ(next.slot.window_start, at) << "the earliest window with room";
  EXPECT_EQ(windows("default")[0].used, 2);
  EXPECT_EQ(life().release(event("a"), kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(life().confirm(event("a"), kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(life().release(event("none"), kNoon).error().kind, ErrorKind::not_found);
}

TEST_P(SlotLifeSuite, assigns_anew_what_was_released) {
  given({.max = 1});
  const Instant at = kNoon + Seconds{60};
  assigned({.event = "a", .at = at});
  assigned({.event = "b", .at = at});
  ASSERT_TRUE(life().release(event("a"), kNoon));
  assigned({.event = "c", .at = at});
  const Assignment anew = assigned({.event = "a", .at = at}, kNoon + Seconds{1});
  EXPECT_TRUE(anew.fresh);
  EXPECT_EQ(anew.slot.window_start, at + Seconds{8});
  EXPECT_EQ(anew.slot.created, kNoon + Seconds{1});
  EXPECT_EQ(status("a"), SlotStatus::assigned);
  EXPECT_FALSE(assigned({.event = "a", .at = at}).fresh);
  EXPECT_EQ(used("default"), 3);
  EXPECT_EQ(all_slots().size(), 3U);
  ASSERT_TRUE(life().release(event("a"), kNoon + Seconds{2}));
  EXPECT_EQ(used("default"), 2);
}

TEST_P(SlotLifeSuite, releases_nothing_once_the_window_has_begun) {
  given({});
  const Instant at = kNoon + Seconds{60};
  assigned({.event = "a", .at = at});
  EXPECT_EQ(life().release(event("a"), at).error().kind, ErrorKind::conflict);
  EXPECT_EQ(status("a"), SlotStatus::assigned);
  EXPECT_EQ(used("default"), 1);
  EXPECT_TRUE(life().release(event("a"), at - Millis{1}));
}

TEST_P(SlotLifeSuite, expires_what_nobody_confirmed) {
  given({.max = 1});
  const Instant at = kNoon + Seconds{60};
  assign_for("a", Seconds{10});
  assign_for("b", Seconds{20});
  assign_for("c", Seconds{10});
  assigned({.event = "d", .at = at});
  ASSERT_TRUE(life().confirm(event("c"), kNoon));
  EXPECT_EQ(expired(kNoon + Seconds{9}), 0U);
  EXPECT_EQ(expired(kNoon + Seconds{11}), 1U);
  EXPECT_EQ(expired(kNoon + Seconds{11}), 0U);
  EXPECT_EQ(status("a"), SlotStatus::expired);
  EXPECT_EQ(status("b"), SlotStatus::assigned);
  EXPECT_EQ(assigned({.event = "e", .at = at}, kNoon + Seconds{12}).slot.window_start, at);
  EXPECT_EQ(life().confirm(event("a"), kNoon + Seconds{12}).error().kind, ErrorKind::conflict);
  const Assignment anew = assign_for("a", Seconds{10}, kNoon + Seconds{12});
  EXPECT_TRUE(anew.fresh);
  EXPECT_EQ(expired(kNoon + Seconds{21}), 1U) << "b; a has a new term";
  EXPECT_EQ(expired(kNoon + Seconds{23}), 1U);
  EXPECT_EQ(status("a"), SlotStatus::expired);
}

TEST_P(SlotLifeSuite, expires_late_without_giving_back_a_window_that_has_begun) {
  given({});
  assign_for("a", Seconds{10}, kNoon, kNoon);
  EXPECT_EQ(used("default"), 1);
  EXPECT_EQ(expired(kNoon + Seconds{11}), 1U);
  EXPECT_EQ(status("a"), SlotStatus::expired);
  EXPECT_EQ(used("default"), 1) << "its time has passed";
}

TEST_P(SlotLifeSuite, expires_in_steps) {
  given({.max = 100});
  for (int i = 0; i < 25; ++i) assign_for("e" + std::to_string(i), Seconds{1 + i % 3});
  EXPECT_EQ(expired(kNoon + Seconds{30}, 10), 10U);
  EXPECT_EQ(expired(kNoon + Seconds{30}, 10), 10U);
  EXPECT_EQ(expired(kNoon + Seconds{30}, 10), 5U);
  EXPECT_EQ(used("default"), 0);
}

TEST_P(SlotLifeSuite, keeps_all_of_it_over_a_restart) {
  given({.max = 1});
  const Instant now = harness().now();
  const Instant at = now + std::chrono::hours{1};
  assign_for("a", std::chrono::minutes{10}, now, at);
  assign_for("b", std::chrono::minutes{10}, now, at);
  assign_for("c", std::chrono::minutes{10}, now, at);
  ASSERT_TRUE(life().confirm(event("a"), now));
  ASSERT_TRUE(life().release(event("b"), now));
  harness().reopen();
  EXPECT_EQ(status("a"), SlotStatus::confirmed);
  EXPECT_EQ(status("b"), SlotStatus::released);
  EXPECT_EQ(used("default"), 2);
  EXPECT_EQ(expired(now + std::chrono::minutes{11}), 1U);
  EXPECT_EQ(status("c"), SlotStatus::expired);
  EXPECT_EQ(used("default"), 1);
}

TEST_P(SlotLifeSuite, counts_right_when_threads_assign_and_release) {
  given({.max = 3});
  const Instant at = kNoon + Seconds{60};
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        const SlotRequest one = request({.event = name, .at = at});
        EXPECT_TRUE(slots().assign({&one, 1}, kNoon).at(0));
        if (i % 2 == 0) {
          EXPECT_TRUE(life().release(event(name), kNoon));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(used("default"), kThreads * (kRounds / 2));
  for (const WindowUse& use : windows("default")) EXPECT_LE(use.used, 3);
  std::int64_t held = 0;
  for (const Slot& slot : all_slots()) held += slot.status == SlotStatus::assigned ? 1 : 0;
  EXPECT_EQ(held, used("default"));
}

// One of many releases and expirations of a slot gives its place back, the others do not.
TEST_P(SlotLifeSuite, gives_a_place_back_once) {
  given({.max = 100});
  for (int i = 0; i < 20; ++i) assign_for("e" + std::to_string(i), Seconds{1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto released = life().release(event("e" + std::to_string(i)), kNoon + Seconds{5});
        EXPECT_TRUE(released || released.error().kind == ErrorKind::conflict);
      }
    });
  }
  threads.emplace_back([&] { (void)expired(kNoon + Seconds{5}); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(used("default"), 0);
}

}  // namespace penstock::store::conformance
