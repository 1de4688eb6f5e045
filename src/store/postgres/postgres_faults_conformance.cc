// What must hold when the connection or the server fails in the middle of things.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing/tcp_proxy.h"
#include "runtime/clocks.h"
#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

class Faults : public testing::Test {
 protected:
  Faults() : database_(server().fresh_database()), proxy_(server().port()) {}

  static TestServer& server() { return TestServer::shared(); }
  std::string proxy_url() const { return ServerProcess::url_to(proxy_.port(), database_); }
  std::unique_ptr<PostgresStore> through_proxy(Millis deadline = Seconds{2},
                                               std::size_t connections = 2) {
    return open_store({.url = proxy_url(), .connections = connections, .deadline = deadline});
  }
  std::unique_ptr<PostgresStore> direct() {
    return open_store({.url = server().url(database_), .deadline = Seconds{20}});
  }
  // Tries again until it works, as a client would; the store must come back by itself.
  static Result<Assignment> assign_in_the_end(PostgresStore& store, const SlotRequest& request) {
    const runtime::Stopwatch watch;
    for (;;) {
      auto answer =
          std::move(store.backend().slots.store->assign({&request, 1}, std::nullopt).front());
      if (answer || watch.seconds() > 30) return answer;
      std::this_thread::yield();
    }
  }

  static void expect_kept(PostgresStore& store, const std::map<std::string, Slot>& acknowledged) {
    ASSERT_FALSE(acknowledged.empty());
    std::vector<EventId> events;
    for (const auto& [event, slot] : acknowledged) events.push_back(EventId::trusted(event));
    const auto found = store.backend().slots.store->find(events);
    ASSERT_TRUE(found) << found.error().what;
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ((*found)[i], acknowledged.at(events[i].str())) << events[i].str();
    }
  }

  std::string database_;
  TcpProxy proxy_;
};

TEST_F(Faults, an_answer_lost_after_the_request_keeps_the_slot_for_the_retry) {
  const auto store = through_proxy();
  put(*store, 10);
  const auto requests = asks("e", 0, 25);
  proxy_.lose_answer_to("e24");
  for (const auto& answer : store->backend().slots.store->assign(requests, std::nullopt)) {
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().kind == ErrorKind::unavailable ||
                answer.error().kind == ErrorKind::timeout)
        << answer.error().what;
  }
  // The batch was executed, and stands.
  const runtime::Stopwatch watch;
  while (server().number(database_, "SELECT count(*) FROM penstock.event_slot") < 25) {
    ASSERT_LT(watch.seconds(), 20);
  }
  const auto again = store->backend().slots.store->assign(requests, std::nullopt);
  for (const auto& answer : again) {
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_FALSE(answer->fresh);
  }
  EXPECT_EQ(server().number(database_, "SELECT sum(used) FROM penstock.slot_window"), 25);
  EXPECT_EQ(server().number(database_, kMiscounted), 0);
}

TEST_F(Faults, a_silent_server_costs_a_call_no_more_than_its_deadline) {
  const auto store = through_proxy(Millis{400});
  put(*store, 10);
  proxy_.set(TcpProxy::Mode::silent);
  for (int i = 0; i < 3; ++i) {
    const runtime::Stopwatch watch;
    const SlotRequest request = ask("e" + std::to_string(i));
    const auto answer = store->backend().slots.store->assign({&request, 1}, std::nullopt);
    EXPECT_FALSE(answer.front());
    EXPECT_LT(watch.seconds(), 4.0);  // 0.4 s and the scheduling of a busy machine
  }
  EXPECT_FALSE(store->backend().health->check());
  proxy_.set(TcpProxy::Mode::pass);
  EXPECT_TRUE(assign_in_the_end(*store, ask("e0")));
  EXPECT_TRUE(store->backend().health->check());
}

TEST_F(Faults, while_the_server_is_away_calls_fail_at_once_and_few_of_them_knock) {
  const auto store = through_proxy();
  put(*store, 10);
  proxy_.set(TcpProxy::Mode::refuse);
  const SlotRequest request = ask("e0");
  const runtime::Stopwatch watch;
  const int before = proxy_.accepted();
  int calls = 0;
  while (watch.seconds() < 2.0) {
    const auto answer = store->backend().slots.store->assign({&request, 1}, std::nullopt);
    ASSERT_FALSE(answer.front());
    EXPECT_EQ(answer.front().error().kind, ErrorKind::unavailable) << answer.front().error().what;
    ++calls;
  }
  EXPECT_GT(calls, 200);
  // From 50 ms doubling to 1 s there is room for some ten attempts, and the listener's ten.
  EXPECT_LT(proxy_.accepted() - before, 40);
  EXPECT_FALSE(store->backend().health->check());
  proxy_.set(TcpProxy::Mode::pass);
  EXPECT_TRUE(assign_in_the_end(*store, request));
}

TEST_F(Faults, a_terminated_backend_loses_no_acknowledged_slot_and_no_capacity) {
  const auto store = direct();
  put(*store, 7);
  std::atomic<bool> stop = false;
  std::thread killer([&] {
    while (!stop) {
      server().query("postgres",
                     "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" +
                         database_ + "' AND state = 'active' ORDER BY random() LIMIT 1");
    }
  });
  std::mutex mutex;
  std::map<std::string, Slot> acknowledged;
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      for (int batch = 0; batch < 25; ++batch) {
        const auto requests = asks("c" + std::to_string(client % 2) + "-", batch * 20, 20);
        for (int tried = 0; tried < 3; ++tried) {
          for (const auto& answer : store->backend().slots.store->assign(requests, std::nullopt)) {
            if (!answer) continue;
            const std::lock_guard lock(mutex);
            const auto [known, added] =
                acknowledged.emplace(answer->slot.event.str(), answer->slot);
            EXPECT_EQ(known->second, answer->slot);
          }
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  killer.join();
  expect_kept(*direct(), acknowledged);
  expect_settled(database_);
  EXPECT_LE(server().number(database_, "SELECT max(used) FROM penstock.slot_window"), 7);
}

TEST_F(Faults, a_crash_of_the_server_keeps_every_acknowledged_slot) {
  const auto store = direct();
  put(*store, 7);
  std::map<std::string, Slot> acknowledged;
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::vector<std::thread> clients;
    for (int client = 0; client < 4; ++client) {
      clients.emplace_back([&, client] {
        for (int batch = 0; !stop; ++batch) {
          const auto requests = asks(
              "r" + std::to_string(round) + "c" + std::to_string(client) + "-", batch * 20, 20);
          for (const auto& answer : store->backend().slots.store->assign(requests, std::nullopt)) {
            if (!answer) continue;
            const std::lock_guard lock(mutex);
            acknowledged.emplace(answer->slot.event.str(), answer->slot);
          }
        }
      });
    }
    const runtime::Stopwatch watch;
    while (watch.seconds() < 0.3) std::this_thread::yield();
    // A backend that dies of SIGKILL makes the postmaster end all others and recover from the log,
    // as after `pg_ctl restart -m immediate`.
    const long long victim = server().number(
        "postgres", "SELECT pid FROM pg_stat_activity WHERE datname = '" + database_ + "' LIMIT 1");
    ASSERT_GT(victim, 1);
    ::kill(static_cast<pid_t>(victim), SIGKILL);
    while (watch.seconds() < 0.6) std::this_thread::yield();
    stop = true;
    for (std::thread& client : clients) client.join();
    ASSERT_TRUE(assign_in_the_end(*store, ask("after-" + std::to_string(round))));
  }
  expect_kept(*store, acknowledged);
  expect_settled(database_);
  EXPECT_LE(server().number(database_, "SELECT max(used) FROM penstock.slot_window"), 7);
}

TEST_F(Faults, a_lock_that_is_not_granted_in_time_is_a_timeout_and_charges_nothing) {
  const auto patient = direct();
  put(*patient, 7);
  auto holder = Connection::open({.url = server().url(database_), .statement_timeout = Seconds{60}},
                                 runtime::Deadline(Seconds{20}));
  ASSERT_TRUE(holder);
  ASSERT_TRUE((*holder)->script("BEGIN; SELECT pg_advisory_xact_lock(1885434739, 1)",
                                runtime::Deadline(Seconds{20})));
  const auto hasty = open_store({.url = server().url(database_), .deadline = Millis{800}});
  const SlotRequest request = ask("e0");
  const auto answer = hasty->backend().slots.store->assign({&request, 1}, std::nullopt);
  ASSERT_FALSE(answer.front());
  EXPECT_EQ(answer.front().error().kind, ErrorKind::timeout) << answer.front().error().what;
  ASSERT_TRUE((*holder)->script("ROLLBACK", runtime::Deadline(Seconds{20})));
  EXPECT_EQ(server().number(database_, "SELECT count(*) FROM penstock.event_slot"), 0);
  EXPECT_TRUE(assign_in_the_end(*hasty, request));
}

}  // namespace
}  // namespace penstock::store::postgres
