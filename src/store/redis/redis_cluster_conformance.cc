// A cluster that changes while it is used: a slot moves, a master dies.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/redis/slots.h"
#include "runtime/clocks.h"
#include "store/redis/testing/ask.h"
#include "store/redis/testing/test_server.h"

namespace penstock::store::redis {
namespace {

// What CLUSTER NODES says of one node.
struct ClusterNode {
  std::string id;
  int port = 0;
  bool master = false;
};

std::vector<ClusterNode> nodes_of(int port) {
  std::istringstream lines(TestServer::cli(port, "CLUSTER NODES"));
  std::vector<ClusterNode> nodes;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    ClusterNode node;
    std::string address;
    std::string flags;
    words >> node.id >> address >> flags;
    node.port = std::atoi(address.c_str() + address.find(':') + 1);
    node.master = flags.find("master") != flags.npos && flags.find("fail") == flags.npos;
    nodes.push_back(node);
  }
  return nodes;
}

int owner_of(int port, unsigned slot) {
  std::istringstream lines(TestServer::cli(port, "CLUSTER NODES"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::string address;
    for (int i = 0; i < 8 && words >> word; ++i) {
      if (i == 1) address = word;
    }
    while (words >> word) {
      unsigned first = 0;
      unsigned last = 0;
      const int read = std::sscanf(word.c_str(), "%u-%u", &first, &last);
      if (read == 1) last = first;
      if (read >= 1 && slot >= first && slot <= last) {
        return std::atoi(address.c_str() + address.find(':') + 1);
      }
    }
  }
  return 0;
}

std::string id_of(const std::vector<ClusterNode>& nodes, int port) {
  for (const ClusterNode& node : nodes) {
    if (node.port == port) return node.id;
  }
  return {};
}

// Threads that charge keys in turn; everything that is answered is counted.
class Traffic {
 public:
  Traffic(RedisStore& store, std::vector<std::string> keys, core::Limit limit)
      : store_(store), keys_(std::move(keys)), limit_(limit), admitted_(keys_.size()) {
    for (int thread = 0; thread < 3; ++thread) threads_.emplace_back([this] { run(); });
  }
  ~Traffic() { stop(); }
  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Waits until so many more answers came; false: not in time.
  bool answers(int more) const {
    const runtime::Stopwatch watch;
    const int from = answered_;
    while (answered_ < from + more) {
      if (watch.seconds() > 40) return false;
      std::this_thread::yield();
    }
    return true;
  }
  int failed() const { return failed_; }
  int admitted(std::size_t key) const { return admitted_[key]; }
  std::string problem() {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

 private:
  void run() {
    for (std::size_t i = 0; !stop_; ++i) {
      const std::size_t key = i % keys_.size();
      const Result<bool> answer = ask(store_, keys_[key], limit_);
      if (answer) {
        ++answered_;
        admitted_[key] += *answer ? 1 : 0;
        continue;
      }
      ++failed_;
      const std::lock_guard lock(mutex_);
      problem_ = answer.error().what;
    }
  }

  RedisStore& store_;
  const std::vector<std::string> keys_;
  const core::Limit limit_;
  std::atomic<bool> stop_{false};
  std::atomic<int> answered_{0};
  std::atomic<int> failed_{0};
  std::vector<std::atomic<int>> admitted_;
  std::mutex mutex_;
  std::string problem_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

TEST(RedisCluster, a_slot_that_moves_loses_no_decision_and_no_usage) {
  TestServer& server = TestServer::cluster();
  ASSERT_TRUE(server.problem().empty()) << server.problem();
  const std::string prefix = fresh_prefix();
  const auto store = open_store(
      {.url = server.url(), .cluster = true, .deadline = Seconds{20}, .key_prefix = prefix});
  const std::vector<std::string> keys = {"{moving}a", "{moving}b", "{moving}c"};
  const unsigned slot = slot_of("{moving}");
  const std::string number = std::to_string(slot);
  const std::vector<ClusterNode> nodes = nodes_of(server.port());
  const int from = owner_of(server.port(), slot);
  ASSERT_NE(from, 0);
  const int to = nodes[0].port == from ? nodes[1].port : nodes[0].port;

  Traffic traffic(*store, keys, fixed_of(1'000'000'000));
  ASSERT_TRUE(traffic.answers(50)) << traffic.problem();
  const auto set_slot = [&](int port, const std::string& words) {
    EXPECT_EQ(TestServer::cli(port, "CLUSTER SETSLOT " + number + " " + words), "OK");
  };
  set_slot(to, "IMPORTING " + id_of(nodes, from));
  set_slot(from, "MIGRATING " + id_of(nodes, to));
  ASSERT_TRUE(traffic.answers(50)) << traffic.problem();
  // One key at a time: for a while the slot is here and there.
  for (const std::string& key : keys) {
    EXPECT_EQ(TestServer::cli(from, "MIGRATE 127.0.0.1 " + std::to_string(to) + " '" + prefix +
                                        key + "' 0 5000"),
              "OK");
    ASSERT_TRUE(traffic.answers(50)) << traffic.problem();
  }
  set_slot(to, "NODE " + id_of(nodes, to));
  set_slot(from, "NODE " + id_of(nodes, to));
  ASSERT_TRUE(traffic.answers(50)) << traffic.problem();
  traffic.stop();
  EXPECT_EQ(traffic.failed(), 0) << traffic.problem();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(used_of(*store, keys[i]), traffic.admitted(i)) << keys[i];
  }
  // Together in one slot they are one call, here as before.
  EXPECT_EQ(owner_of(server.port(), slot), to);
}

TEST(RedisCluster, limits_hold_through_the_death_of_a_master) {
  TestServer server({"--cluster", "--replicas", "1", "--set", "appendonly=no"});
  ASSERT_TRUE(server.problem().empty()) << server.problem();
  const auto store = open_store(
      {.url = server.url(), .cluster = true, .deadline = Millis{200}, .key_prefix = "f:"});
  const std::vector<std::string> keys = {"{a}", "{b}", "{c}", "{d}", "{e}"};
  const int doomed = owner_of(server.port(), slot_of("{a}"));
  const core::Limit limit = fixed_of(1'000'000'000);
  Traffic traffic(*store, keys, limit);
  ASSERT_TRUE(traffic.answers(300)) << traffic.problem();
  for (const TestServer::Node& node : server.nodes()) {
    if (node.port == doomed) ::kill(node.pid, SIGKILL);
  }
  const runtime::Stopwatch watch;
  while (traffic.failed() == 0 && watch.seconds() < 30) std::this_thread::yield();
  const int before = traffic.admitted(0);
  while (traffic.admitted(0) < before + 50 && watch.seconds() < 60) std::this_thread::yield();
  std::printf("the dead master's keys were served again after %.1f s\n", watch.seconds());
  EXPECT_GE(traffic.admitted(0), before + 50) << traffic.problem();
  traffic.stop();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Result<bool> well = ask_in_the_end(*store, keys[i], limit);
    ASSERT_TRUE(well) << well.error().what;
    const std::int64_t lost = traffic.admitted(i) + 1 - used_of(*store, keys[i]);
    std::printf("%s: %d admitted, %lld of them not known any more\n", keys[i].c_str(),
                traffic.admitted(i), static_cast<long long>(std::max<std::int64_t>(lost, 0)));
    // A replica lags by less than what is in flight; the rest is the time until Redis itself knows.
    EXPECT_LE(lost, 100) << keys[i];
  }
}

TEST(RedisCluster, a_single_store_says_that_it_talks_to_a_cluster) {
  TestServer& server = TestServer::cluster();
  ASSERT_TRUE(server.problem().empty()) << server.problem();
  const auto store = open_store(
      {.url = "redis://127.0.0.1:" + std::to_string(server.port()), .deadline = Seconds{20}});
  for (int i = 0; i < 50; ++i) {
    const Result<bool> answer = ask(*store, "k" + std::to_string(i), bucket_of(5));
    if (answer) continue;
    EXPECT_NE(answer.error().what.find("cluster"), std::string::npos) << answer.error().what;
    return;
  }
  FAIL() << "every key lay at the first node";
}

}  // namespace
}  // namespace penstock::store::redis
