// Items whose time is a slot: both are written in one step. Included by queue_suite.h.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/slots/slot_config.h"
#include "store/queue/conformance/queue_harness.h"

namespace penstock::store::conformance {

inline NewItem slot_item(std::string id, std::string config, Instant requested,
                         Millis max_delay = std::chrono::days{1}) {
  NewItem item = new_item("T", id, Instant{});
  item.slot = SlotRequest{.event = core::item_event("T:" + id),
                          .config_name = config_name(std::move(config)),
                          .requested = requested,
                          .max_delay = max_delay,
                          .entropy = 5};
  return item;
}

TEST_P(QueueSlotSuite, gives_items_the_time_of_their_slot) {
  ASSERT_TRUE(harness().backend().slots.configs->put({.name = config_name("c"),
                                                      .pool = pool_name("c"),
                                                      .max_per_window = 2,
                                                      .window_size = Seconds{4}},
                                                     kNoon));
  std::vector<NewItem> items;
  for (int i = 0; i < 5; ++i) items.push_back(slot_item("s" + std::to_string(i), "c", kNoon));
  const auto answers = queue().enqueue(items, kNoon);
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].error().what;
    EXPECT_EQ(answers[i]->result, EnqueueResult::created);
    const auto found = harness().backend().slots.store->find(
        std::vector{core::item_event("T:s" + std::to_string(i))});
    ASSERT_TRUE(found && found->at(0));
    EXPECT_EQ((*found)[0]->scheduled, answers[i]->scheduled);
    EXPECT_EQ(view("s" + std::to_string(i)).scheduled, answers[i]->scheduled);
  }
  EXPECT_EQ(put(items[3]).result, EnqueueResult::same);
  EXPECT_EQ(put(items[3]).scheduled, answers[3]->scheduled);
  EXPECT_EQ(claim(1, 10, kNoon + Millis{3'999}).items.size(), 2U);
  EXPECT_EQ(claim(1, 10, kNoon + Seconds{60}).items.size(), 3U);
}

TEST_P(QueueSlotSuite, writes_neither_when_there_is_no_slot) {
  ASSERT_TRUE(harness().backend().slots.configs->put({.name = config_name("c"),
                                                      .pool = pool_name("c"),
                                                      .max_per_window = 1,
                                                      .window_size = Seconds{4}},
                                                     kNoon));
  const std::vector<NewItem> items = {
      slot_item("a", "c", kNoon, Millis{0}), slot_item("b", "c", kNoon, Millis{0}),
      slot_item("x", "unknown", kNoon), new_item("T", "plain", kNoon)};
  const auto answers = queue().enqueue(items, kNoon);
  EXPECT_TRUE(answers[0]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::exhausted);
  EXPECT_EQ(answers[2].error().kind, ErrorKind::not_found);
  EXPECT_TRUE(answers[3]);
  EXPECT_EQ(count(ItemState::ready), 2U);
  EXPECT_FALSE(*queue().find(item_type("T"), item_id("b")));
  EXPECT_FALSE(harness().backend().slots.store->find(std::vector{core::item_event("T:b")})->at(0));
}

TEST_P(QueueSlotSuite, charges_no_slot_for_an_item_that_is_there_already) {
  ASSERT_TRUE(harness().backend().slots.configs->put({.name = config_name("c"),
                                                      .pool = pool_name("c"),
                                                      .max_per_window = 10,
                                                      .window_size = Seconds{4}},
                                                     kNoon));
  put(new_item("T", "a", kNoon));
  const NewItem other = slot_item("a", "c", kNoon);
  EXPECT_EQ(put(other).result, EnqueueResult::different);
  EXPECT_FALSE(harness().backend().slots.store->find(std::vector{core::item_event("T:a")})->at(0));
}

// Slots of items and public events share windows, never a slot.
TEST_P(QueueSlotSuite, a_public_event_of_the_same_id_is_another_event) {
  const Backend backend = harness().backend();
  const Instant now = kNoon - std::chrono::days{1};
  ASSERT_TRUE(backend.slots.configs->put({.name = config_name("c"),
                                          .pool = pool_name("c"),
                                          .max_per_window = 2,
                                          .window_size = Seconds{4}},
                                         now));
  const auto used = [&] {
    const auto uses = backend.slots.store->windows({.pool = pool_name("c"),
                                                    .window_size = Seconds{4},
                                                    .from = now,
                                                    .to = now + std::chrono::days{400},
                                                    .limit = 100});
    std::int64_t sum = 0;
    for (const WindowUse& use : *uses) sum += use.used;
    return sum;
  };
  const Instant far = now + std::chrono::days{300};
  const SlotRequest before{.event = event("T:a"),
                           .config_name = config_name("c"),
                           .requested = far,
                           .max_delay = std::chrono::days{1},
                           .ttl = Seconds{10}};
  ASSERT_TRUE(backend.slots.store->assign({&before, 1}, now).at(0));
  const Instant at = now + Seconds{60};
  const Enqueued item = put(slot_item("a", "c", at), now);
  EXPECT_LT(item.scheduled, at + Seconds{4}) << "the public event moved the item";
  put(slot_item("b", "c", at), now);
  EXPECT_EQ(used(), 3);

  EXPECT_EQ(backend.slots.life->release(event("T:b"), now).error().kind, ErrorKind::not_found);
  EXPECT_EQ(backend.slots.life->confirm(event("T:b"), now).error().kind, ErrorKind::not_found);
  ASSERT_TRUE(backend.slots.life->release(event("T:a"), now));
  EXPECT_EQ(used(), 2);
  const std::vector both = {core::item_event("T:a"), event("T:a"), core::item_event("T:b")};
  const auto found = backend.slots.store->find(both);
  ASSERT_TRUE(found && found->at(0) && found->at(1) && found->at(2));
  EXPECT_EQ(found->at(0)->status, SlotStatus::assigned);
  EXPECT_EQ(found->at(0)->scheduled, item.scheduled);
  EXPECT_EQ(found->at(1)->status, SlotStatus::released);

  harness().reopen();
  const auto all = harness().backend().slots.store->scan(EventId{}, 10);
  ASSERT_TRUE(all) << all.error().what;
  std::vector<EventId> events;
  for (const Slot& slot : *all) events.push_back(slot.event);
  EXPECT_EQ(events, (std::vector{both[0], both[2], both[1]}));
  ASSERT_TRUE(harness().backend().slots.life->release(both[0], now)) << "as a cancelled item does";
  const auto pruned =
      harness().backend().slots.retention->prune({.before = at + Seconds{10}}, {}, {});
  ASSERT_TRUE(pruned) << pruned.error().what;
  EXPECT_EQ(pruned->slots, 2U);
}

}  // namespace penstock::store::conformance
