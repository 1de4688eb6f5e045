// What must hold when Redis, or a node, fails in the middle of things.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/quota/cached/real/testing/nodes.h"

namespace penstock::store::cached {
namespace {

// As a daemon has it, but for the deadline of Redis: this machine may be busy.
NodeSettings as_in_a_daemon(std::string url, Log* log = nullptr) {
  return {.redis_url = std::move(url),
          .redis_deadline = Millis{300},
          .cache = {.term = Millis{1'500}, .pause_first = Millis{20}, .pause_longest = Millis{50}},
          .log = log};
}

// For load from all sides: what only a busy machine holds up is no outage, and no node goes silent.
NodeSettings under_load(std::string url, Log* log = nullptr) {
  NodeSettings settings = as_in_a_daemon(std::move(url), log);
  settings.redis_deadline = Seconds{2};
  settings.cache.term = Seconds{10};
  settings.cache.patience = Seconds{30};
  settings.counting = true;
  return settings;
}

class CacheFaults : public testing::Test {
 protected:
  static constexpr UserId kUser{101};
  static constexpr const char* kEntry = "RateLimiterCache:101";

  void SetUp() override { ASSERT_TRUE(redis_.problem().empty()) << redis_.problem(); }

  // How much may be counted that nobody was told of, at most: charges without an answer; charges
  // that a node did not tell, since its term was over; and leases that did not reach the cache
  // while a later lease of the same user did, which takes what is before it for used.
  static std::int64_t untold(Node& node, std::int64_t told) {
    CountingLedger& ledger = *node.counting();
    CountingCache& cache = *node.counting_cache();
    return cache.unanswered + (cache.charged + ledger.charged - told) +
           (ledger.leased - cache.filled);
  }
  static std::int64_t charge_some(Node& node, UserId user, int times) {
    std::int64_t charged = 0;
    for (int i = 0; i < times; ++i) {
      charged += node.charge(user) == ChargeResult::charged ? 1 : 0;
    }
    return charged;
  }
  static std::int64_t charge_all(Node& node, UserId user) {
    std::int64_t charged = 0;
    while (node.charge(user) == ChargeResult::charged) ++charged;
    return charged;
  }

  Database database_;
  Redis redis_{{"--set", "appendonly=no"}};
};

enum class Outage { empty, stale, stopped, cut };

class CacheOutage : public CacheFaults, public testing::WithParamInterface<Outage> {
 protected:
  void begin(TcpProxy& proxy) {
    switch (GetParam()) {
      case Outage::empty:
      case Outage::stale:
        redis_.kill();
        break;
      case Outage::stopped:
        ::kill(redis_.nodes().front().pid, SIGSTOP);
        break;
      case Outage::cut:
        proxy.set(TcpProxy::Mode::refuse);
        break;
    }
  }
  void end(TcpProxy& proxy) {
    switch (GetParam()) {
      case Outage::empty:
      case Outage::stale:
        redis_.start();
        break;
      case Outage::stopped:
        ::kill(redis_.nodes().front().pid, SIGCONT);
        break;
      case Outage::cut:
        proxy.set(TcpProxy::Mode::pass);
        break;
    }
  }
};

// Nothing is under way when it fails, so everything is known: exactly the limit.
TEST_P(CacheOutage, between_charges_takes_nothing_and_gives_nothing) {
  constexpr std::int64_t kLimit = 1'000;
  TcpProxy proxy(redis_.port());
  LogReader log;
  Node first(database_.url(), as_in_a_daemon(redis_url(proxy.port()), &log.log()));
  Node second(database_.url(), as_in_a_daemon(redis_url(proxy.port())));
  std::int64_t charged = 0;
  std::size_t outages = 0;
  first.put(kUser, kLimit);
  for (; outages < 2; ++outages) {
    ASSERT_TRUE(first.wait_for_cache());
    ASSERT_TRUE(second.wait_for_cache());
    charged += charge_some(first, kUser, 40);
    if (GetParam() == Outage::stale) {
      ASSERT_EQ(redis_.cli("SAVE"), "OK");
    }
    charged += charge_some(second, kUser, 70);
    begin(proxy);
    charged += charge_some(first, kUser, 30);
    charged += charge_some(second, kUser, 30);
    EXPECT_FALSE(first.gate().member().in_use());
    EXPECT_EQ(first.count(kUser), charged);
    end(proxy);
  }
  ASSERT_TRUE(first.wait_for_cache());
  ASSERT_TRUE(second.wait_for_cache());
  charged += charge_some(second, kUser, 50);
  EXPECT_EQ(second.count(kUser), charged);
  charged += charge_all(first, kUser);
  EXPECT_EQ(second.charge(kUser), ChargeResult::limited);
  EXPECT_EQ(charged, kLimit);
  EXPECT_EQ(log.count("gateway.cache_away"), outages) << log.all();
  EXPECT_EQ(log.count("gateway.cache_back"), outages) << log.all();
}

// Two nodes, six threads, users whose limits are used up meanwhile. What was under way at an outage
// may be counted without having been charged; never the other way round.
TEST_P(CacheOutage, mid_load_never_charges_more_than_the_limit) {
  constexpr int kUsers = 8;
  constexpr std::int64_t kLimit = 3'000;
  constexpr int kThreads = 6;
  constexpr int kBatch = 4;
  constexpr int kOutages = 3;
  TcpProxy proxy(redis_.port());
  LogReader log;
  Node first(database_.url(), under_load(redis_url(proxy.port()), &log.log()));
  Node second(database_.url(), under_load(redis_url(proxy.port())));
  ASSERT_TRUE(first.wait_for_cache());
  for (int user = 0; user < kUsers; ++user) first.put(UserId{user}, kLimit);
  std::array<std::atomic<std::int64_t>, kUsers> charged{};
  std::atomic<std::int64_t> total{0};
  std::array<std::atomic<std::int64_t>, 2> told{};  // by each node
  std::atomic<std::int64_t> failed{0};
  std::atomic<double> longest{0};
  std::atomic<bool> finish{false};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Node& node = thread % 2 == 0 ? first : second;
        Rng rng(static_cast<std::uint64_t>(thread));
        for (int limited = 0; limited < 200;) {
          std::vector<Charge> charges(kBatch);
          for (Charge& one : charges) one.user = UserId{static_cast<int>(rng.below(kUsers))};
          const runtime::Stopwatch watch;
          const auto answers = node.gate().charge(charges, std::nullopt);
          const double seconds = watch.seconds();
          for (double known = longest; seconds > known;) {
            if (longest.compare_exchange_weak(known, seconds)) break;
          }
          bool any = false;
          for (std::size_t i = 0; i < answers.size(); ++i) {
            if (!answers[i]) {
              ++failed;
            } else if (answers[i]->result == ChargeResult::charged) {
              ++charged[static_cast<std::size_t>(charges[i].user.raw)];
              ++total;
              ++told[static_cast<std::size_t>(thread % 2)];
              any = true;
            }
          }
          // Until the outages are over there is room for all.
          limited = any || !finish ? 0 : limited + 1;
          if (!finish && total > kUsers * kLimit * 3 / 4) {
            std::this_thread::sleep_for(Millis{1});
          }
        }
      });
    }
    for (int outage = 0; outage < kOutages; ++outage) {
      EXPECT_TRUE(first.wait_for_cache() && second.wait_for_cache());
      if (GetParam() == Outage::stale) {
        EXPECT_EQ(redis_.cli("SAVE"), "OK");
      }
      const runtime::Stopwatch watch;
      for (std::int64_t before = total; total < before + 800 && watch.seconds() < 20;) {
        std::this_thread::sleep_for(Millis{1});
      }
      begin(proxy);
      EXPECT_TRUE(first.wait_for_cache(false) && second.wait_for_cache(false));
      for (std::int64_t before = total; total < before + 300 && watch.seconds() < 40;) {
        std::this_thread::sleep_for(Millis{1});
      }
      end(proxy);
    }
    EXPECT_TRUE(first.wait_for_cache() && second.wait_for_cache());
    finish = true;
  }
  std::int64_t lost = 0;
  for (int user = 0; user < kUsers; ++user) {
    const std::int64_t of_user = charged[static_cast<std::size_t>(user)];
    EXPECT_LE(of_user, kLimit) << "user " << user;
    lost += kLimit - of_user;
  }
  const std::int64_t lost_most = untold(first, told[0]) + untold(second, told[1]);
  std::printf(
      "charged %lld of %lld, %lld counted without a charge (at most %lld), %lld failed, "
      "longest call %.3f s\n",
      static_cast<long long>(total), static_cast<long long>(kUsers * kLimit),
      static_cast<long long>(lost), static_cast<long long>(lost_most),
      static_cast<long long>(failed), longest.load());
  EXPECT_EQ(failed, 0);
  // Of a node that let its term pass, leases count as used: then nothing can be said.
  if (database_.number("SELECT count(*) FROM penstock.gateway_cache_doubt") == 0) {
    EXPECT_LE(lost, lost_most);
  }
  EXPECT_LE(log.count("gateway.cache_away"), 2U * kOutages) << log.all();
}

std::string outage_name(const testing::TestParamInfo<Outage>& info) {
  return std::array{"comes_back_empty", "comes_back_with_old_data", "is_stopped",
                    "is_cut_off"}[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Redis, CacheOutage,
                         testing::Values(Outage::empty, Outage::stale, Outage::stopped,
                                         Outage::cut),
                         outage_name);

TEST_F(CacheFaults, one_node_that_is_cut_off_takes_all_past_the_cache) {
  TcpProxy proxy(redis_.port());
  Node first(database_.url(), as_in_a_daemon(redis_url(proxy.port())));
  Node second(database_.url(), as_in_a_daemon(redis_.url()));
  ASSERT_TRUE(first.wait_for_cache() && second.wait_for_cache());
  first.put(kUser, 60);
  std::int64_t charged = charge_some(first, kUser, 10) + charge_some(second, kUser, 10);
  proxy.set(TcpProxy::Mode::refuse);
  charged += charge_some(first, kUser, 5);  // all of it is leased: it has to be settled
  EXPECT_EQ(charged, 25);
  EXPECT_TRUE(second.wait_for_cache(false));
  charged += charge_some(second, kUser, 5);
  proxy.set(TcpProxy::Mode::pass);
  EXPECT_TRUE(first.wait_for_cache() && second.wait_for_cache());
  charged += charge_all(second, kUser);
  EXPECT_EQ(charged, 60);
}

// Its last charges were never written down, and then Redis is lost with them.
TEST_F(CacheFaults, a_node_that_crashed_is_counted_by_what_was_leased) {
  constexpr std::int64_t kSmall = 50;
  constexpr std::int64_t kLarge = 2'000;
  constexpr UserId kLargeUser{102};
  constexpr UserId kSeenUser{103};
  Node node(database_.url(), as_in_a_daemon(redis_.url()));
  ASSERT_TRUE(node.wait_for_cache());
  node.put(kUser, kSmall);
  node.put(kLargeUser, kLarge);
  node.put(kSeenUser, kSmall);
  std::int64_t small = 0;
  std::int64_t large = 0;
  std::int64_t seen = 0;
  {
    TcpProxy proxy(Postgres::shared().port());
    std::string url = database_.url();
    const std::string port = ":" + std::to_string(Postgres::shared().port());
    url.replace(url.find(port), port.size(), ":" + std::to_string(proxy.port()));
    NodeSettings settings = as_in_a_daemon(redis_.url());
    settings.cache.flow_back = std::chrono::hours{1};
    Node crashing(url, settings);
    ASSERT_TRUE(crashing.wait_for_cache());
    small += charge_some(crashing, kUser, 7);
    large += charge_some(crashing, kLargeUser, 30);
    seen += charge_some(crashing, kSeenUser, 4);
    proxy.set(TcpProxy::Mode::refuse);  // it cannot say anything any more, and goes
  }
  const runtime::Stopwatch watch;
  while (database_.number("SELECT count(*) FROM penstock.gateway_cache_node WHERE until_us < "
                          "penstock.epoch_us()") == 0 &&
         watch.seconds() < 30) {
    std::this_thread::sleep_for(Millis{5});
  }
  // Somebody looked at this one since.
  seen += charge_some(node, kSeenUser, 2);
  ASSERT_TRUE(node.gate().member().flush());
  redis_.kill();
  small += charge_all(node, kUser);
  large += charge_all(node, kLargeUser);
  seen += charge_all(node, kSeenUser);
  std::printf("crashed node: %lld of %lld, %lld of %lld; looked at since: %lld of %lld\n",
              static_cast<long long>(small), static_cast<long long>(kSmall),
              static_cast<long long>(large), static_cast<long long>(kLarge),
              static_cast<long long>(seen), static_cast<long long>(kSmall));
  EXPECT_EQ(small, 7) << "all of it was leased";
  EXPECT_LE(large, kLarge);
  EXPECT_GE(large, kLarge - kLarge / 8) << "no more than what was leased at once";
  EXPECT_EQ(seen, kSmall);
}

TEST_F(CacheFaults, a_node_that_ends_in_good_order_leaves_no_doubt) {
  Node node(database_.url(), as_in_a_daemon(redis_.url()));
  ASSERT_TRUE(node.wait_for_cache());
  node.put(kUser, 50);
  std::int64_t charged = 0;
  {
    Node ending(database_.url(), as_in_a_daemon(redis_.url()));
    ASSERT_TRUE(ending.wait_for_cache());
    charged += charge_some(ending, kUser, 7);
  }
  redis_.kill();
  charged += charge_all(node, kUser);
  EXPECT_EQ(charged, 50);
}

TEST_F(CacheFaults, what_was_charged_stays_counted_when_all_nodes_end) {
  {
    Node node(database_.url(), as_in_a_daemon(redis_.url()));
    ASSERT_TRUE(node.wait_for_cache());
    node.put(kUser, 20);
    EXPECT_EQ(charge_some(node, kUser, 8), 8);
  }
  redis_.kill();
  redis_.start();
  Node node(database_.url(), as_in_a_daemon(redis_.url()));
  ASSERT_TRUE(node.wait_for_cache());
  EXPECT_EQ(node.count(kUser), 8);
  EXPECT_EQ(charge_all(node, kUser), 12);
}

TEST_F(CacheFaults, a_config_changed_during_an_outage_is_not_undone_by_the_old_entry) {
  TcpProxy proxy(redis_.port());
  Node node(database_.url(), as_in_a_daemon(redis_url(proxy.port())));
  ASSERT_TRUE(node.wait_for_cache());
  node.put(kUser, 60);
  EXPECT_EQ(charge_some(node, kUser, 10), 10);
  proxy.set(TcpProxy::Mode::refuse);
  while (proxy.open() > 0) std::this_thread::yield();
  node.put(kUser, 5);
  EXPECT_EQ(charge_some(node, kUser, 2), 2);
  EXPECT_EQ(redis_.cli(std::string("HGET ") + kEntry + " rateLimit"), "60") << "it is still there";
  proxy.set(TcpProxy::Mode::pass);
  ASSERT_TRUE(node.wait_for_cache());
  EXPECT_EQ(charge_all(node, kUser), 3);
  EXPECT_EQ(redis_.cli(std::string("HGET ") + kEntry + " rateLimit"), "5");
}

TEST_F(CacheFaults, a_lease_that_comes_after_the_config_changed_is_refused) {
  Node node(database_.url(), as_in_a_daemon(redis_.url()));
  ASSERT_TRUE(node.wait_for_cache());
  node.put(kUser, 60);
  const CacheEpoch epoch = node.ledger().state().value();
  const CacheKey key{.epoch = epoch.number, .token = epoch.token};
  const QuotaLeaseRequest request{.user = kUser};
  const auto slow = node.ledger().lease(epoch.number, {&request, 1}, {}, std::nullopt);
  ASSERT_TRUE(slow && slow->size() == 1);
  node.put(kUser, 2);
  EXPECT_EQ(node.cache().fill(key, *slow), (std::vector<bool>{false}));
  EXPECT_EQ(redis_.cli(std::string("EXISTS ") + kEntry), "0");
  EXPECT_EQ(charge_all(node, kUser), 2);
  EXPECT_EQ(node.cache().fill(key, *slow), (std::vector<bool>{false}));
  EXPECT_EQ(node.charge(kUser), ChargeResult::limited);
}

TEST_F(CacheFaults, an_entry_that_vanished_counts_as_used) {
  Node node(database_.url(), as_in_a_daemon(redis_.url()));
  ASSERT_TRUE(node.wait_for_cache());
  constexpr std::int64_t kLimit = 2'000;
  node.put(kUser, kLimit);
  std::int64_t charged = charge_some(node, kUser, 100);
  EXPECT_EQ(redis_.cli(std::string("DEL ") + kEntry), "1");
  charged += charge_all(node, kUser);
  EXPECT_LE(charged, kLimit);
  EXPECT_GE(charged, kLimit - kLimit / 8);
  EXPECT_TRUE(node.gate().member().in_use());
}

TEST_F(CacheFaults, what_redis_forgot_of_its_scripts_is_an_outage) {
  LogReader log;
  Node node(database_.url(), as_in_a_daemon(redis_.url(), &log.log()));
  ASSERT_TRUE(node.wait_for_cache());
  node.put(kUser, 60);
  std::int64_t charged = charge_some(node, kUser, 10);
  redis_.cli("SCRIPT FLUSH");
  charged += charge_some(node, kUser, 10);
  ASSERT_TRUE(node.wait_for_cache());
  charged += charge_all(node, kUser);
  EXPECT_EQ(charged, 60);
  EXPECT_EQ(log.count("started anew"), 1U) << log.all();
}

// With the settings of a daemon to the letter, and one node.
TEST_F(CacheFaults, the_switch_takes_no_longer_than_a_second) {
  for (const bool hangs : {false, true}) {
    Node node(database_.url(),
              {.redis_url = redis_.url(), .redis_deadline = Millis{50}, .cache = {}});
    ASSERT_TRUE(node.wait_for_cache());
    node.put(kUser, 60);
    EXPECT_EQ(charge_some(node, kUser, 10), 10);
    if (hangs) {
      ::kill(redis_.nodes().front().pid, SIGSTOP);
    } else {
      redis_.kill();
    }
    const runtime::Stopwatch watch;
    EXPECT_EQ(charge_some(node, kUser, 1), 1);
    const double seconds = watch.seconds();
    std::printf("switch after Redis %s: %.0f ms\n", hangs ? "hangs" : "is gone", seconds * 1'000);
    EXPECT_LT(seconds, 1.0);
    if (hangs) {
      ::kill(redis_.nodes().front().pid, SIGCONT);
    } else {
      redis_.start();
    }
  }
}

}  // namespace
}  // namespace penstock::store::cached
