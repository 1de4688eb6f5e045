// The ninth to eleventh correctness property of the gateway's design, each over 120 random cases.
// The others are those of every gate and store (store/conformance).
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/quota/cached/real/testing/counting_ports.h"
#include "store/quota/cached/real/testing/nodes.h"

namespace penstock::store::cached {
namespace {

class CacheProperties : public testing::Test {
 protected:
  static constexpr int kCases = 120;

  void SetUp() override {
    ASSERT_TRUE(Redis::single().problem().empty()) << Redis::single().problem();
  }

  UserId any_user() { return UserId{static_cast<std::int32_t>(rng_.below(1U << 31))}; }
  static std::string entry_of(UserId user) {
    return "RateLimiterCache:" + std::to_string(user.raw);
  }
  static std::string cli(const std::string& words) { return Redis::single().cli(words); }

  Database database_;
  Rng rng_{91'011};
};

TEST_F(CacheProperties, property_9_redis_first_with_a_miss_that_fills_it) {
  Node node(database_.url(), {.redis_url = Redis::single().url(), .counting = true});
  ASSERT_TRUE(node.wait_for_cache());
  CountingLedger& ledger = *node.counting();
  for (int i = 0; i < kCases; ++i) {
    const UserId user = any_user();
    const std::int64_t limit = rng_.between(1, 60);
    const std::int64_t minutes = rng_.between(1, 600);
    node.put(user, limit, minutes);
    const std::int64_t leases = ledger.leases;
    // A miss: one lease, and the entry is there.
    ASSERT_EQ(node.charge(user), ChargeResult::charged);
    ASSERT_EQ(ledger.leases, leases + 1);
    ASSERT_EQ(cli("HGET " + entry_of(user) + " rateLimit"), std::to_string(limit));
    ASSERT_EQ(cli("HGET " + entry_of(user) + " currentCount"), "1");
    const std::int64_t expiry = std::atoll(cli("PTTL " + entry_of(user)).c_str());
    ASSERT_LE(expiry, minutes * 60'000);
    ASSERT_GT(expiry, minutes * 60'000 - 30'000);
    // Hits: as the entry dictates, and the truth is not asked, denials among them.
    const std::int64_t more = rng_.between(0, limit + 3);
    for (std::int64_t used = 1; used <= more; ++used) {
      ASSERT_EQ(node.charge(user), used < limit ? ChargeResult::charged : ChargeResult::limited);
    }
    ASSERT_EQ(ledger.leases, leases + 1);
    ASSERT_EQ(ledger.charges, 0);
    ASSERT_EQ(cli("HGET " + entry_of(user) + " currentCount"),
              std::to_string(std::min(1 + more, limit)));
    ASSERT_EQ(node.count(user), std::min(1 + more, limit)) << "and it flows back";
  }
}

TEST_F(CacheProperties, property_10_a_config_update_invalidates_the_entry) {
  Node node(database_.url(), {.redis_url = Redis::single().url(), .counting = true});
  Node other(database_.url(), {.redis_url = Redis::single().url()});
  ASSERT_TRUE(node.wait_for_cache());
  ASSERT_TRUE(other.wait_for_cache());
  for (int i = 0; i < kCases; ++i) {
    const UserId user = any_user();
    node.put(user, rng_.between(1, 60));
    Node& charging = rng_.below(2) == 0 ? node : other;
    for (std::uint64_t n = 1 + rng_.below(5); n-- > 0;) charging.charge(user);
    ASSERT_EQ(cli("EXISTS " + entry_of(user)), "1");
    if (rng_.below(4) == 0) {
      ASSERT_EQ(node.quotas().remove(user), true);
      ASSERT_EQ(cli("EXISTS " + entry_of(user)), "0");
      ASSERT_EQ(charging.charge(user), ChargeResult::unknown_user);
      continue;
    }
    const std::int64_t limit = rng_.between(1, 8);
    node.put(user, limit);
    ASSERT_EQ(cli("EXISTS " + entry_of(user)), "0");
    const std::int64_t leases = node.counting()->leases;
    for (std::int64_t used = 0; used <= limit; ++used) {
      ASSERT_EQ(node.charge(user), used < limit ? ChargeResult::charged : ChargeResult::limited);
    }
    ASSERT_EQ(node.counting()->leases, leases + 1) << "the next charge is a miss";
  }
}

TEST_F(CacheProperties, property_11_without_redis_by_postgresql_and_no_more_than_the_limit) {
  TcpProxy proxy(Redis::single().port());
  const NodeSettings settings{.redis_url = redis_url(proxy.port()), .redis_deadline = Millis{200}};
  Node first(database_.url(), settings);
  Node second(database_.url(), settings);
  int cases = 0;
  while (cases < kCases) {
    ASSERT_TRUE(first.wait_for_cache());
    ASSERT_TRUE(second.wait_for_cache());
    struct Case {
      UserId user;
      std::int64_t limit = 0;
      std::int64_t used = 0;
    };
    std::vector<Case> users(10);
    for (Case& one : users) {
      one = {.user = any_user(), .limit = rng_.between(1, 12)};
      first.put(one.user, one.limit);
      for (std::uint64_t n = rng_.below(6); n-- > 0;) {
        one.used += second.charge(one.user) == ChargeResult::charged ? 1 : 0;
      }
    }
    proxy.set(rng_.below(2) == 0 ? TcpProxy::Mode::refuse : TcpProxy::Mode::silent);
    for (const Case& one : users) {
      std::atomic<std::int64_t> charged{0};
      {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
          threads.emplace_back([&, thread] {
            for (int n = 0; n < 4; ++n) {
              Node& node = thread % 2 == 0 ? first : second;
              charged += node.charge(one.user) == ChargeResult::charged ? 1 : 0;
            }
          });
        }
      }
      ASSERT_EQ(one.used + charged, one.limit) << "case " << cases;
      ++cases;
    }
    ASSERT_FALSE(first.gate().member().in_use());
    proxy.set(TcpProxy::Mode::pass);
  }
  std::printf("property 11: %d users, %d outages\n", cases, cases / 10);
}

}  // namespace
}  // namespace penstock::store::cached
