// Several nodes on one database: one truth for capacity, for events, for configs, for news.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "engine/testing/tcp_proxy.h"
#include "runtime/clocks.h"
#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

class Nodes : public testing::Test {
 protected:
  Nodes() : database_(server().fresh_database()) {
    for (int i = 0; i < 3; ++i) nodes_.push_back(open());
  }
  static TestServer& server() { return TestServer::shared(); }
  std::unique_ptr<PostgresStore> open() const {
    return open_store({.url = server().url(database_), .connections = 2, .deadline = Seconds{30}});
  }

  // Assigns on one node; answers for one event must be equal wherever they come from.
  void assign(std::size_t node, const std::vector<SlotRequest>& requests) {
    const auto answers = nodes_[node]->backend().slots.store->assign(requests, std::nullopt);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) {
        EXPECT_EQ(answers[i].error().kind, ErrorKind::exhausted) << answers[i].error().what;
        continue;
      }
      fresh_ += answers[i]->fresh ? 1 : 0;
      const auto [known, added] = answers_.emplace(requests[i].event.str(), answers[i]->slot);
      EXPECT_EQ(known->second, answers[i]->slot) << "two slots for " << requests[i].event.str();
    }
  }

  void expect_one_truth() {
    EXPECT_EQ(server().number(database_, "SELECT count(*) FROM penstock.event_slot"),
              static_cast<long long>(answers_.size()));
    EXPECT_EQ(fresh_, static_cast<long long>(answers_.size()));
    EXPECT_EQ(server().number(database_, kMiscounted), 0);
    EXPECT_EQ(server().number(database_,
                              "SELECT count(*) FROM (SELECT FROM penstock.slot_window GROUP BY "
                              "pool_id, window_start_ms HAVING count(*) > 1) w"),
              0);
  }

  const std::string database_;
  std::vector<std::unique_ptr<PostgresStore>> nodes_;
  std::mutex mutex_;
  std::map<std::string, Slot> answers_;  // guarded by mutex_
  long long fresh_ = 0;                  // guarded by mutex_
};

TEST_F(Nodes, mixed_load_never_overfills_and_gives_every_event_one_slot) {
  put(*nodes_[0], 9, "default", "bank", Seconds{1});
  put(*nodes_[0], 5, "bulk", "bank", Seconds{1});
  put(*nodes_[0], 3, "alone", "alone", Millis{700});
  std::atomic<bool> stop = false;
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) put(*nodes_[2], 5 + i % 5, "default", "bank", Seconds{1});
  });
  std::vector<std::thread> clients;
  for (std::size_t client = 0; client < 6; ++client) {
    clients.emplace_back([&, client] {
      Rng rng(client);
      const char* const names[] = {"default", "bulk", "alone"};
      for (int batch = 0; batch < 25; ++batch) {
        std::vector<SlotRequest> requests;
        const bool burst = rng.below(2) == 0;
        for (int i = 0; i < 40; ++i) {
          requests.push_back(ask("e" + std::to_string(rng.below(2'500)),
                                 burst ? "default" : names[rng.below(3)],
                                 kNoon + Millis{burst ? 0 : rng.between(0, 60'000)}));
        }
        assign(client % 3, requests);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  stop = true;
  changer.join();
  expect_one_truth();
  EXPECT_LE(server().number(database_, "SELECT max(used) FROM penstock.slot_window"), 9);
}

TEST_F(Nodes, the_same_events_sent_to_all_nodes_at_once_get_one_slot_each) {
  put(*nodes_[0], 10);
  put(*nodes_[0], 10, "other", "other");
  for (int round = 0; round < 15; ++round) {
    std::vector<std::thread> clients;
    for (std::size_t node = 0; node < 3; ++node) {
      clients.emplace_back([&, node] {
        // In another order, and partly by another config and so another pool.
        auto requests =
            asks("r" + std::to_string(round) + "-", 0, 60, node == 2 ? "other" : "default");
        if (node == 1) std::ranges::reverse(requests);
        assign(node, requests);
      });
    }
    for (std::thread& client : clients) client.join();
  }
  EXPECT_EQ(answers_.size(), 15U * 60U);
  expect_one_truth();
}

TEST_F(Nodes, full_contention_for_one_instant_leaves_no_holes) {
  put(*nodes_[0], 10);
  std::vector<std::thread> clients;
  for (std::size_t client = 0; client < 6; ++client) {
    clients.emplace_back([&, client] {
      for (int batch = 0; batch < 10; ++batch) {
        assign(client % 3, asks("c" + std::to_string(client) + "-", batch * 33, 33));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  expect_one_truth();
  EXPECT_EQ(server().number(database_, "SELECT count(*) FROM penstock.slot_window"), 198);
}

TEST_F(Nodes, a_raised_maximum_counts_on_every_node_at_once_whatever_it_remembers) {
  put(*nodes_[0], 2);
  assign(0, asks("a", 0, 40));
  assign(1, asks("b", 0, 1));  // both nodes know now that the first windows are full
  put(*nodes_[2], 3);
  for (std::size_t node = 0; node < 3; ++node) {
    const SlotRequest request = ask("late" + std::to_string(node));
    const auto answer = nodes_[node]->backend().slots.store->assign({&request, 1}, std::nullopt);
    ASSERT_TRUE(answer.front());
    EXPECT_EQ(answer.front()->slot.window_start, kNoon + Seconds{4 * static_cast<int>(node)});
    EXPECT_EQ(answer.front()->slot.config_version, 2);
  }
}

TEST_F(Nodes, a_held_snapshot_does_not_slow_a_hot_counter_down) {
  put(*nodes_[0], 10'000'000);
  auto holder = Connection::open({.url = server().url(database_), .statement_timeout = Seconds{60}},
                                 runtime::Deadline(Seconds{20}));
  ASSERT_TRUE(holder);
  ASSERT_TRUE(
      (*holder)->script("SET idle_in_transaction_session_timeout = 0; "
                        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM "
                        "penstock.event_slot",
                        runtime::Deadline(Seconds{20})));
  for (int batch = 0; batch < 300; ++batch) assign(0, asks("h", batch * 2, 2));
  expect_one_truth();
  // 300 versions of one counter are all kept for the snapshot, yet a reader starts at the newest.
  EXPECT_GE(server().number(database_, "SELECT generation FROM penstock.slot_window"), 4);
}

// What a listener was told.
class Told {
 public:
  void note(const std::optional<ConfigName>& changed) {
    const std::lock_guard lock(mutex_);
    told_.push_back(changed ? changed->str() : "*");
    more_.notify_all();
  }
  bool hears(const std::string& what, double seconds) {
    std::unique_lock lock(mutex_);
    return more_.wait_for(lock, std::chrono::duration<double>(seconds),
                          [&] { return std::ranges::find(told_, what) != told_.end(); });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    told_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::string> told_;  // guarded by mutex_
};

TEST_F(Nodes, a_changed_config_and_a_flush_reach_every_node_within_a_second) {
  Told told[3];
  for (std::size_t i = 0; i < 3; ++i) {
    nodes_[i]->backend().slots.changes->subscribe(
        [&, i](const auto& changed) { told[i].note(changed); });
  }
  // Listening has begun once a flush arrives.
  for (Told& one : told) {
    while (!one.hears("*", 0.05))
      ASSERT_TRUE(nodes_[0]->backend().slots.changes->flush_everywhere());
  }
  put(*nodes_[1], 5, "card", "card");
  for (Told& one : told) EXPECT_TRUE(one.hears("card", 1.0));
  for (Told& one : told) one.forget();
  ASSERT_TRUE(nodes_[2]->backend().slots.changes->flush_everywhere());
  for (Told& one : told) EXPECT_TRUE(one.hears("*", 1.0));
  for (auto& node : nodes_) node->backend().slots.changes->subscribe(nullptr);
}

TEST_F(Nodes, a_listener_that_lost_its_connection_counts_everything_as_changed) {
  TcpProxy proxy(server().port());
  const auto node = open_store({.url = ServerProcess::url_to(proxy.port(), database_)});
  Told told;
  node->backend().slots.changes->subscribe([&](const auto& changed) { told.note(changed); });
  while (!told.hears("*", 0.05)) ASSERT_TRUE(node->backend().slots.changes->flush_everywhere());
  told.forget();
  proxy.set(TcpProxy::Mode::refuse);
  while (proxy.open() > 0) std::this_thread::yield();
  put(*nodes_[0], 5, "missed", "missed");
  proxy.set(TcpProxy::Mode::pass);
  EXPECT_TRUE(told.hears("*", 20));
  node->backend().slots.changes->subscribe(nullptr);
}

}  // namespace
}  // namespace penstock::store::postgres
