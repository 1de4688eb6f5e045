// Retention on a real server, alone and under load.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

class Retention : public testing::Test {
 protected:
  Retention() : database_(server().fresh_database()), store_(open()) { put(*store_, 5); }
  static TestServer& server() { return TestServer::shared(); }
  std::unique_ptr<PostgresStore> open() const {
    return open_store({.url = server().url(database_), .deadline = Seconds{30}});
  }
  void assign(const std::string& prefix, int count, Instant at) {
    const auto requests = asks(prefix, 0, count, "default", at);
    for (const auto& answer : store_->backend().slots.store->assign(requests, std::nullopt)) {
      EXPECT_TRUE(answer) << answer.error().what;
    }
  }
  long long rows(const char* table) {
    return server().number(database_, std::string("SELECT count(*) FROM penstock.") + table);
  }

  const std::string database_;
  std::unique_ptr<PostgresStore> store_;
};

constexpr Instant kLongAgo = from_epoch_millis(1'000'000'000'000);

TEST_F(Retention, prune_takes_the_oldest_first_and_keeps_the_rest) {
  assign("old", 23, kLongAgo);                // five windows, until 20 s later
  assign("edge", 5, kLongAgo + Seconds{40});  // [40, 44)
  assign("ahead", 7, kNoon);
  std::vector<Slot> taken;
  const auto report = store_->backend().slots.retention->prune(
      {.before = kLongAgo + Seconds{43}, .step_slots = 4},
      [&](std::span<const Slot> slots) -> Result<void> {
        EXPECT_LE(slots.size(), 4U);
        taken.insert(taken.end(), slots.begin(), slots.end());
        return {};
      },
      {});
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, 23U);
  EXPECT_EQ(report->windows, 5U);
  ASSERT_EQ(taken.size(), 23U);
  EXPECT_TRUE(std::ranges::is_sorted(taken, {}, &Slot::window_start));
  EXPECT_EQ(rows("event_slot"), 12);
  EXPECT_EQ(server().number(database_, kMiscounted), 0);
}

TEST_F(Retention, prune_under_load_disturbs_no_assignment_and_loses_no_slot) {
  for (int i = 0; i < 20; ++i) assign("old" + std::to_string(i) + "-", 100, kLongAgo);
  std::atomic<bool> stop = false;
  std::atomic<int> assigned{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      for (int batch = 0; !stop; ++batch) {
        const auto requests = asks("n" + std::to_string(client) + "-", batch * 20, 20);
        for (const auto& answer : store_->backend().slots.store->assign(requests, std::nullopt)) {
          EXPECT_TRUE(answer) << answer.error().what;
          assigned += answer ? 1 : 0;
        }
      }
    });
  }
  std::multiset<std::string> taken;
  const auto report = open()->backend().slots.retention->prune(
      {.before = kLongAgo + std::chrono::days{1}, .step_slots = 50},
      [&](std::span<const Slot> slots) -> Result<void> {
        for (const Slot& slot : slots) taken.insert(slot.event.str());
        return {};
      },
      {});
  stop = true;
  for (std::thread& client : clients) client.join();
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, 2'000U);
  EXPECT_EQ(taken.size(), 2'000U);
  EXPECT_EQ(rows("event_slot"), assigned);
  EXPECT_EQ(server().number(database_, kMiscounted), 0);
}

}  // namespace
}  // namespace penstock::store::postgres
