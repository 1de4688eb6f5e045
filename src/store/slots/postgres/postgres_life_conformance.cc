// What becomes of slots when several nodes give them up and take them again, beyond SlotLifeSuite.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

class Life : public testing::Test {
 protected:
  Life() : database_(server().fresh_database()), first_(open()), second_(open()) {}
  ~Life() override {
    first_.reset();
    second_.reset();
    server().drop(database_);
  }
  static TestServer& server() { return TestServer::shared(); }
  std::unique_ptr<PostgresStore> open() const {
    return open_store({.url = server().url(database_), .deadline = Seconds{30}});
  }
  static std::vector<Assignment> assign(PostgresStore& store,
                                        const std::vector<SlotRequest>& requests) {
    std::vector<Assignment> assignments;
    for (const auto& answer : store.backend().slots.store->assign(requests, std::nullopt)) {
      EXPECT_TRUE(answer) << answer.error().what;
      assignments.push_back(answer.value_or(Assignment{}));
    }
    return assignments;
  }
  static void release(PostgresStore& store, const std::string& event) {
    const auto slot = store.backend().slots.life->release(EventId::trusted(event), std::nullopt);
    EXPECT_TRUE(slot) << slot.error().what;
  }
  long long number(const std::string& sql) { return server().number(database_, sql); }

  const std::string database_;
  std::unique_ptr<PostgresStore> first_;
  std::unique_ptr<PostgresStore> second_;
};

TEST_F(Life, a_node_that_knew_the_window_full_finds_the_place_that_another_gave_back) {
  put(*first_, 2);
  assign(*second_, asks("e", 0, 10));
  EXPECT_EQ(assign(*second_, {ask("next")}).front().slot.window_start, kNoon + Seconds{20});
  release(*first_, "e4");
  EXPECT_EQ(assign(*second_, {ask("late")}).front().slot.window_start, kNoon + Seconds{8});
  EXPECT_EQ(assign(*second_, {ask("later")}).front().slot.window_start, kNoon + Seconds{20});
  EXPECT_EQ(number(kMiscounted), 0);
}

// Searches go on from what nodes remember, unless they must not.
TEST_F(Life, a_place_of_a_window_that_was_not_full_voids_no_memory) {
  put(*first_, 3);
  assign(*first_, asks("e", 0, 8));
  const char* const returned = "SELECT returned FROM penstock.slot_pool";
  release(*first_, "e7");
  EXPECT_EQ(number(returned), 0);
  release(*first_, "e3");
  EXPECT_EQ(number(returned), 1);
  put(*first_, 1, "narrow", "default");
  release(*first_, "e4");
  EXPECT_EQ(number(returned), 2) << "full for the other config";
}

TEST_F(Life, an_item_is_left_out_when_its_event_gave_its_slot_up_and_finds_no_other) {
  put(*first_, 1);
  SlotRequest request = ask("T:a");
  request.max_delay = Millis::zero();
  assign(*first_, {request});
  release(*first_, "T:a");
  SlotRequest other = ask("b");
  other.max_delay = Millis::zero();
  assign(*first_, {other});
  NewItem item{.type = ItemType::trusted("T"), .id = ItemId::trusted("a"), .due = kNoon};
  item.context = "{}";
  item.slot = request;
  const auto refused = first_->backend().queue.store->enqueue({&item, 1}, kNoon);
  ASSERT_FALSE(refused[0]);
  EXPECT_EQ(refused[0].error().kind, ErrorKind::exhausted) << refused[0].error().what;
  EXPECT_EQ(number("SELECT count(*) FROM penstock.dispatch_item"), 0);
  item.slot->max_delay = Seconds{60};
  const auto created = first_->backend().queue.store->enqueue({&item, 1}, kNoon);
  ASSERT_TRUE(created[0]) << created[0].error().what;
  EXPECT_GE(created[0]->scheduled, kNoon + Seconds{4});
  EXPECT_EQ(number("SELECT count(*) FROM penstock.dispatch_item i JOIN penstock.event_slot s ON"
                   " i.scheduled_us = s.scheduled_ms * 1000 WHERE s.event_id = 'T:a'"),
            1);
}

TEST_F(Life, a_prune_takes_out_what_was_given_up_and_says_so) {
  constexpr Instant kLongAgo = from_epoch_millis(1'000'000'000'000);
  put(*first_, 5);
  auto requests = asks("e", 0, 8, "default", kLongAgo);
  requests[5].ttl = Seconds{1};
  for (const auto& answer :
       first_->backend().slots.store->assign(requests, kLongAgo - Seconds{60})) {
    EXPECT_TRUE(answer) << answer.error().what;
  }
  SlotLife& life = *first_->backend().slots.life;
  for (const char* event : {"e1", "e6", "e7"}) {
    EXPECT_TRUE(life.release(EventId::trusted(event), kLongAgo - Seconds{30}));
  }
  EXPECT_EQ(life.expire(10, kLongAgo - Seconds{30}), 1U);
  EXPECT_EQ(number(kMiscounted), 0);
  std::vector<Slot> taken;
  const auto report = first_->backend().slots.retention->prune(
      {.before = kLongAgo + Seconds{60}, .step_slots = 3},
      [&](std::span<const Slot> slots) -> Result<void> {
        taken.insert(taken.end(), slots.begin(), slots.end());
        return {};
      },
      {});
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, 8U);
  EXPECT_EQ(report->windows, 2U);
  EXPECT_EQ(std::ranges::count(taken, SlotStatus::released, &Slot::status), 3);
  const auto expired = std::ranges::find(taken, SlotStatus::expired, &Slot::status);
  ASSERT_NE(expired, taken.end());
  EXPECT_EQ(expired->event.str(), "e5");
  EXPECT_EQ(expired->confirm_by, kLongAgo - Seconds{59});
}

// Few events in two pools, taken, confirmed, given up and forgotten by all at once.
TEST_F(Life, counters_equal_rows_and_nothing_deadlocks_whatever_comes_together) {
  constexpr int kEvents = 12;
  put(*first_, 2);
  put(*first_, 3, "other", "other");
  const auto fine = [](const auto& result) {
    EXPECT_TRUE(result || result.error().kind == ErrorKind::conflict ||
                result.error().kind == ErrorKind::not_found)
        << result.error().what;
  };
  const auto meddle = [&](std::uint64_t seed) {
    Rng rng(seed);
    const Backend backend = (seed % 2 == 0 ? first_ : second_)->backend();
    for (int i = 0; i < 120; ++i) {
      const EventId event = EventId::trusted("e" + std::to_string(rng.below(kEvents)));
      switch (rng.below(6)) {
        case 0:
          fine(backend.slots.life->confirm(event, std::nullopt));
          break;
        case 1:
        case 2:
          fine(backend.slots.life->release(event, std::nullopt));
          break;
        case 3:
          fine(backend.slots.life->expire(1 + rng.below(kEvents), std::nullopt));
          break;
        default: {
          const char* const config = rng.below(4) == 0 ? "other" : "default";
          auto requests = asks("e", static_cast<int>(rng.below(kEvents / 2)), kEvents / 2, config);
          for (SlotRequest& request : requests) {
            if (rng.below(2) == 0) request.ttl = Millis{rng.below(5)};
          }
          for (const auto& answer : backend.slots.store->assign(requests, std::nullopt))
            fine(answer);
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 6; ++i) threads.emplace_back([&, i] { meddle(i); });
  }
  expect_settled(database_);
  server().query(database_, "SELECT pg_stat_force_next_flush()");
  EXPECT_EQ(number("SELECT deadlocks FROM pg_stat_database WHERE datname = '" + database_ + "'"),
            0);
}

}  // namespace
}  // namespace penstock::store::postgres
