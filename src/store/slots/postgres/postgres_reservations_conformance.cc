// A batch takes places from the counters first and fills them with events in a second transaction.
// What must hold between the two. A lock on the table of events keeps batches there.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

using Answers = std::vector<Result<Assignment>>;

class Reservations : public testing::Test {
 protected:
  Reservations() : database_(server().fresh_database()), first_(open("first")) {
    second_ = open("second");
  }
  static TestServer& server() { return TestServer::shared(); }
  std::unique_ptr<PostgresStore> open(const std::string& name) const {
    return open_store({.url = server().url(database_),
                       .connections = 2,
                       .deadline = Seconds{40},
                       .application_name = name});
  }
  static std::future<Answers> assign(PostgresStore& store, std::vector<SlotRequest> requests) {
    return std::async(std::launch::async, [&store, requests = std::move(requests)] {
      return store.backend().slots.store->assign(requests, std::nullopt);
    });
  }

  // From here on batches can take places and not fill them.
  void stop_inserts() {
    auto opened =
        Connection::open({.url = server().url(database_), .statement_timeout = Seconds{60}},
                         runtime::Deadline(Seconds{30}));
    ASSERT_TRUE(opened);
    holder_ = std::move(*opened);
    ASSERT_TRUE(holder_->script(
        "SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE penstock.event_slot IN "
        "SHARE MODE",
        runtime::Deadline(Seconds{30})));
  }
  void let_inserts_go() { ASSERT_TRUE(holder_->script("COMMIT", runtime::Deadline(Seconds{30}))); }

  // The listeners look, and find nothing to give back.
  void blind_listeners() {
    server().query(database_,
                   "CREATE OR REPLACE FUNCTION penstock.give_back_abandoned() RETURNS bigint "
                   "LANGUAGE sql AS 'SELECT 0::bigint'");
  }

  // Until a session of this name waits for a lock of somebody else.
  void wait_until_stuck(const std::string& name) {
    const runtime::Stopwatch watch;
    while (number("SELECT count(*) FROM pg_stat_activity WHERE " + stuck(name)) == 0) {
      ASSERT_LT(watch.seconds(), 30) << name << " does not wait";
      std::this_thread::yield();
    }
  }
  void terminate(const std::string& name) {
    ASSERT_EQ(number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE " +
                     stuck(name)),
              1);
  }
  long long number(const std::string& sql) { return server().number(database_, sql); }
  long long used() { return number("SELECT coalesce(sum(used), 0) FROM penstock.slot_window"); }

  const std::string database_;
  std::unique_ptr<PostgresStore> first_;
  std::unique_ptr<PostgresStore> second_;
  std::unique_ptr<Connection> holder_;

 private:
  std::string stuck(const std::string& name) const {
    return "datname = '" + database_ + "' AND application_name = '" + name +
           "' AND wait_event_type = 'Lock'";
  }
};

std::vector<SlotRequest> without_delay(std::vector<SlotRequest> requests) {
  for (SlotRequest& request : requests) request.max_delay = Millis::zero();
  return requests;
}

void expect_all(const Answers& answers, bool fresh) {
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->fresh, fresh) << answer->slot.event.str();
  }
}

TEST_F(Reservations, places_of_a_terminated_batch_come_back_by_themselves) {
  put(*first_, 10);
  stop_inserts();
  auto lost = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  EXPECT_EQ(used(), 25);
  terminate("first");
  for (const auto& answer : lost.get()) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable) << answer.error().what;
  }
  expect_settled(database_);  // nobody asks for anything meanwhile
  EXPECT_EQ(used(), 0);
  let_inserts_go();
  expect_all(assign(*first_, asks("e", 0, 25)).get(), true);
  EXPECT_EQ(used(), 25);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.slot_window WHERE used > 0"), 3);
}

TEST_F(Reservations, places_that_came_back_are_used_by_nodes_that_knew_them_full) {
  put(*first_, 10);
  stop_inserts();
  auto lost = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  auto behind = assign(*second_, asks("b", 0, 10));  // learns that windows before its own are full
  wait_until_stuck("second");
  terminate("first");
  EXPECT_FALSE(lost.get().front());
  let_inserts_go();
  const Answers kept = behind.get();
  expect_all(kept, true);
  EXPECT_EQ(kept.front()->slot.window_start, kNoon + Seconds{8});
  expect_settled(database_);
  expect_all(assign(*second_, asks("late", 0, 35)).get(), true);
  // 45 events in the first five windows.
  EXPECT_EQ(number("SELECT max(window_start_ms) FROM penstock.slot_window WHERE used > 0"),
            to_epoch_millis(kNoon + Seconds{16}));
}

TEST_F(Reservations, a_search_that_finds_no_room_takes_what_a_failed_batch_left_at_once) {
  blind_listeners();
  put(*first_, 10);
  stop_inserts();
  auto lost = assign(*first_, without_delay(asks("e", 0, 10)));
  wait_until_stuck("first");
  terminate("first");
  EXPECT_FALSE(lost.get().front());
  let_inserts_go();
  expect_all(assign(*second_, without_delay(asks("b", 0, 10))).get(), true);
  EXPECT_EQ(used(), 10);
  expect_settled(database_);
}

TEST_F(Reservations, the_same_new_events_on_two_nodes_get_one_slot_and_one_place_each) {
  put(*first_, 10);
  stop_inserts();
  auto ours = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  auto theirs = assign(*second_, asks("e", 0, 25));
  wait_until_stuck("second");
  EXPECT_EQ(used(), 50);
  let_inserts_go();
  const Answers one = ours.get();
  const Answers other = theirs.get();
  int fresh = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_TRUE(one[i]) << one[i].error().what;
    ASSERT_TRUE(other[i]) << other[i].error().what;
    EXPECT_EQ(one[i]->slot, other[i]->slot);
    fresh += (one[i]->fresh ? 1 : 0) + (other[i]->fresh ? 1 : 0);
  }
  EXPECT_EQ(fresh, 25);
  // The loser has given its places back before it answered.
  EXPECT_EQ(number("SELECT count(*) FROM penstock.slot_reservation"), 0);
  EXPECT_EQ(used(), 25);
  EXPECT_EQ(number(kMiscounted), 0);
}

TEST_F(Reservations, the_same_released_events_on_two_nodes_get_one_slot_and_one_place_each) {
  put(*first_, 10);
  const auto requests = asks("e", 0, 25);
  expect_all(assign(*first_, requests).get(), true);
  for (const SlotRequest& request : requests) {
    EXPECT_TRUE(first_->backend().slots.life->release(request.event, std::nullopt));
  }
  EXPECT_EQ(used(), 0);
  // Nodes that met a known event look for them first, and find what has ended.
  for (PostgresStore* const node : {first_.get(), second_.get()}) {
    const auto known = asks("known", 0, 1);
    assign(*node, known).get();
    expect_all(assign(*node, known).get(), false);
  }
  stop_inserts();
  auto ours = assign(*first_, requests);
  wait_until_stuck("first");
  auto theirs = assign(*second_, requests);
  wait_until_stuck("second");
  EXPECT_EQ(used(), 51);
  let_inserts_go();
  const Answers one = ours.get();
  const Answers other = theirs.get();
  int fresh = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_TRUE(one[i]) << one[i].error().what;
    ASSERT_TRUE(other[i]) << other[i].error().what;
    EXPECT_EQ(one[i]->slot, other[i]->slot);
    fresh += (one[i]->fresh ? 1 : 0) + (other[i]->fresh ? 1 : 0);
  }
  EXPECT_EQ(fresh, 25);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.slot_reservation"), 0);
  EXPECT_EQ(used(), 26);
  EXPECT_EQ(number(kMiscounted), 0);
}

TEST_F(Reservations, an_event_that_is_about_to_get_the_last_place_is_not_refused_elsewhere) {
  put(*first_, 25);
  const auto requests = without_delay(asks("e", 0, 25));
  for (const bool looks_first : {false, true}) {
    // A node that has met a known event looks for them before it takes the lock.
    if (looks_first) expect_all(assign(*second_, requests).get(), false);
    auto next = requests;
    for (SlotRequest& request : next) {
      request.event = EventId::trusted(request.event.str() + (looks_first ? "-b" : ""));
      request.requested += looks_first ? Seconds{4} : Seconds{0};
    }
    stop_inserts();
    auto ours = assign(*first_, next);
    wait_until_stuck("first");
    auto theirs = assign(*second_, next);
    wait_until_stuck("second");
    let_inserts_go();
    const Answers slots = ours.get();
    expect_all(slots, true);
    const Answers same = theirs.get();
    expect_all(same, false);
    for (std::size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i]->slot, same[i]->slot);
  }
  EXPECT_EQ(used(), 50);
}

TEST_F(Reservations, a_failed_batch_of_several_pools_gives_all_its_places_back) {
  put(*first_, 10);
  put(*first_, 3, "other", "other");
  auto requests = asks("e", 0, 12);
  const auto others = asks("o", 0, 7, "other");
  requests.insert(requests.end(), others.begin(), others.end());
  stop_inserts();
  auto lost = assign(*first_, requests);
  wait_until_stuck("first");
  EXPECT_EQ(number("SELECT count(*) FROM penstock.slot_reservation"), 2);
  EXPECT_EQ(used(), 19);
  terminate("first");
  EXPECT_FALSE(lost.get().front());
  expect_settled(database_);
  EXPECT_EQ(used(), 0);
  let_inserts_go();
  expect_all(assign(*second_, requests).get(), true);
}

TEST_F(Reservations, a_batch_whose_places_were_given_back_under_its_hands_is_repeated) {
  put(*first_, 10);
  // Stands for somebody who came between the two transactions, once.
  server().query(database_,
                 "CREATE TABLE penstock.stolen (reservation_id xid8);"
                 "CREATE FUNCTION penstock.steal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 "  IF NOT EXISTS (SELECT FROM penstock.stolen) THEN"
                 "    INSERT INTO penstock.stolen VALUES (NEW.reservation_id);"
                 "    PERFORM penstock.give_back(NEW);"
                 "  END IF;"
                 "  RETURN NULL;"
                 "END $$;"
                 "CREATE TRIGGER steal AFTER INSERT ON penstock.slot_reservation"
                 "  FOR EACH ROW EXECUTE FUNCTION penstock.steal()");
  expect_all(assign(*first_, asks("e", 0, 25)).get(), true);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.stolen"), 1);
  EXPECT_EQ(used(), 25);
  expect_settled(database_);
}

TEST_F(Reservations, the_search_leaves_out_what_is_settled_and_nothing_else) {
  put(*first_, 10);
  const runtime::Stopwatch watch;
  for (int i = 0; number("SELECT below::text::bigint FROM penstock.slot_reservation_floor") == 0;
       ++i) {
    ASSERT_LT(watch.seconds(), 60);
    assign(*first_, asks("a", i, 1)).get();
    // Transactions of others move it as well.
    server().query(database_,
                   "DO 'BEGIN FOR i IN 1..50 LOOP PERFORM pg_current_xact_id(); COMMIT; "
                   "END LOOP; END'");
  }
  const long long before = used();
  stop_inserts();
  auto lost = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  // The floor stops at a reservation that is still in use.
  server().query(database_,
                 "DO 'BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; "
                 "PERFORM penstock.give_back_abandoned(); END'");
  EXPECT_EQ(number("SELECT count(*) FROM penstock.slot_reservation WHERE reservation_id < "
                   "(SELECT below FROM penstock.slot_reservation_floor)"),
            0);
  terminate("first");
  EXPECT_FALSE(lost.get().front());
  expect_settled(database_);
  EXPECT_EQ(used(), before);
  // A floor of another server is above all numbers of this one.
  let_inserts_go();
  server().query(database_, "UPDATE penstock.slot_reservation_floor SET below = '999999999999'");
  stop_inserts();
  lost = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  terminate("first");
  EXPECT_FALSE(lost.get().front());
  expect_settled(database_);
  EXPECT_EQ(used(), before);
  let_inserts_go();
}

TEST_F(Reservations, counters_of_ended_windows_stay_while_a_batch_fills_them) {
  put(*first_, 10);
  constexpr Instant kLongAgo = from_epoch_millis(1'000'000'000'000);
  stop_inserts();
  auto slots = assign(*first_, asks("e", 0, 25, "default", kLongAgo));
  wait_until_stuck("first");
  auto pruned = std::async(std::launch::async, [&] {
    return server().number(database_ + "?application_name=prune",
                           "SELECT penstock.prune_slot_windows(1000000100000, 1000)");
  });
  wait_until_stuck("prune");
  let_inserts_go();
  expect_all(slots.get(), true);
  EXPECT_EQ(pruned.get(), 0);
  EXPECT_EQ(used(), 25);
  expect_settled(database_);
}

TEST_F(Reservations, a_window_size_may_change_when_only_a_failed_batch_was_in_its_way) {
  blind_listeners();
  put(*first_, 10);
  stop_inserts();
  auto lost = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  terminate("first");
  EXPECT_FALSE(lost.get().front());
  put(*second_, 10, "default", "default", Seconds{8});
  let_inserts_go();
}

TEST_F(Reservations, a_window_size_may_not_change_while_a_batch_fills_its_places) {
  put(*first_, 10);
  stop_inserts();
  auto slots = assign(*first_, asks("e", 0, 25));
  wait_until_stuck("first");
  auto change = std::async(std::launch::async, [&] {
    return second_->backend().slots.configs->put({.name = ConfigName::trusted("default"),
                                                  .pool = PoolName::trusted("default"),
                                                  .max_per_window = 10,
                                                  .window_size = Seconds{8}},
                                                 std::nullopt);
  });
  wait_until_stuck("second");
  let_inserts_go();
  expect_all(slots.get(), true);
  EXPECT_FALSE(change.get());
}

}  // namespace
}  // namespace penstock::store::postgres
