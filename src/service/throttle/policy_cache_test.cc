#include "service/throttle/policy_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/policy/policy_rules.h"
#include "service/throttle/test_throttle_stores.h"

namespace penstock::service {
namespace {

class PolicyCacheTest : public testing::Test {
 protected:
  std::int64_t capacity(std::string_view key) {
    return cache_.current().match(key).draft.limit.capacity;
  }

  FakePolicies store_;
  PolicyCache cache_{store_, core::default_policy_draft()};
};

TEST_F(PolicyCacheTest, has_the_fallback_before_anything_is_loaded) {
  EXPECT_EQ(capacity("user:1"), 100);
}

TEST_F(PolicyCacheTest, takes_up_what_others_changed_with_a_refresh) {
  ASSERT_TRUE(store_.create(policy_draft("user:*", 7), {}));
  EXPECT_EQ(capacity("user:1"), 100);
  EXPECT_EQ(cache_.refresh(), true);
  EXPECT_EQ(capacity("user:1"), 7);
  ASSERT_TRUE(store_.remove("user:*", {}));
  EXPECT_EQ(cache_.refresh(), true);
  EXPECT_EQ(capacity("user:1"), 100);
}

TEST_F(PolicyCacheTest, asks_only_for_the_revision_while_nothing_changes) {
  EXPECT_EQ(cache_.refresh(), true);
  const int lists = store_.lists;
  EXPECT_EQ(cache_.refresh(), false);
  EXPECT_EQ(store_.lists, lists);
}

TEST_F(PolicyCacheTest, counts_own_changes_at_once) {
  core::Policy policy{.id = 1, .version = 1, .draft = policy_draft("user:*", 7)};
  cache_.put(policy);
  EXPECT_EQ(capacity("user:1"), 7);
  policy.version = 3;
  policy.draft.limit.capacity = 9;
  cache_.put(policy);
  policy.version = 2;
  policy.draft.limit.capacity = 8;
  cache_.put(policy);  // late: a newer version is known
  EXPECT_EQ(capacity("user:1"), 9);
  cache_.erase("user:*");
  EXPECT_EQ(capacity("user:1"), 100);
}

TEST_F(PolicyCacheTest, keeps_the_last_good_policies_while_the_store_is_away) {
  ASSERT_TRUE(store_.create(policy_draft("user:*", 7), {}));
  ASSERT_TRUE(cache_.refresh());
  store_.away = true;
  EXPECT_FALSE(cache_.refresh());
  EXPECT_EQ(capacity("user:1"), 7);
  store_.away = false;
  ASSERT_TRUE(store_.update(policy_draft("user:*", 8), {}));
  EXPECT_TRUE(cache_.refresh());
  EXPECT_EQ(capacity("user:1"), 8);
}

TEST_F(PolicyCacheTest, does_not_lose_an_own_change_made_while_it_loads) {
  store_.after_list = [this] {
    const auto made = store_.create(policy_draft("k", 7), {});
    if (made) cache_.put(*made);
  };
  ASSERT_TRUE(cache_.refresh());
  EXPECT_EQ(capacity("k"), 7);
  EXPECT_EQ(cache_.refresh(), true);  // what was read before the change is not taken for all
  EXPECT_EQ(capacity("k"), 7);
}

TEST_F(PolicyCacheTest, reads_more_than_one_page) {
  for (int i = 0; i < 2'001; ++i)
    ASSERT_TRUE(store_.create(policy_draft("k" + std::to_string(i)), {}));
  ASSERT_TRUE(cache_.refresh());
  EXPECT_EQ(cache_.current().size(), 2'001U);
}

TEST_F(PolicyCacheTest, does_not_mix_up_two_caches_on_one_thread) {
  FakePolicies other_store;
  PolicyCache other(other_store, policy_draft("default", 1));
  EXPECT_EQ(capacity("x"), 100);
  EXPECT_EQ(other.current().match("x").draft.limit.capacity, 1);
  EXPECT_EQ(capacity("x"), 100);
}

TEST_F(PolicyCacheTest, serves_readers_while_it_changes) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::int64_t last = 0;
      while (!stop) {
        const std::int64_t seen = cache_.current().match("k").version;
        if (seen < last) ++wrong;
        last = seen;
      }
    });
  }
  for (int version = 1; version <= 500; ++version) {
    cache_.put({.id = 1, .version = version, .draft = policy_draft("k")});
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace penstock::service
