#include "service/throttle/policy_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/policy/policy.h"
#include "service/testing/throttle_stores.h"

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

TEST_F(PolicyCacheTest, does_not_read_again_what_it_changed_itself) {
  ASSERT_TRUE(cache_.refresh());
  const int lists = store_.lists;
  cache_.put(*store_.create(policy_draft("a", 7), {}));
  cache_.put(*store_.update(policy_draft("a", 8), {}));
  ASSERT_TRUE(store_.remove("a", {}));
  cache_.erase("a");
  EXPECT_EQ(cache_.refresh(), false);
  EXPECT_EQ(store_.lists, lists);
  cache_.put(*store_.create(policy_draft("b"), {}));
  ASSERT_TRUE(store_.create(policy_draft("c", 9), {}));  // by somebody else
  EXPECT_EQ(cache_.refresh(), true);
  EXPECT_EQ(capacity("c"), 9);
}

TEST_F(PolicyCacheTest, compiles_the_whole_once_changes_have_ended) {
  ASSERT_TRUE(cache_.refresh());
  for (int i = 0; i < 20; ++i) {
    cache_.put(*store_.create(policy_draft("k" + std::to_string(i), i + 1), {}));
  }
  EXPECT_FALSE(cache_.current().whole());
  int refreshes = 0;
  for (; !cache_.current().whole() && refreshes < 100; ++refreshes) ASSERT_TRUE(cache_.refresh());
  EXPECT_EQ(refreshes, PolicyCache::kQuietRefreshes + 1);  // the first one sees the changes
  EXPECT_EQ(capacity("k7"), 8);
  EXPECT_EQ(cache_.current().size(), 20U);
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

// On a store that may come back with less than it had.
class ForgetfulPolicyCacheTest : public testing::Test {
 protected:
  static std::int64_t capacity(const PolicyCache& cache, std::string_view key) {
    return cache.current().match(key).draft.limit.capacity;
  }
  std::int64_t capacity(std::string_view key) { return capacity(cache_, key); }
  // What a node that just started would enforce.
  std::int64_t capacity_in_store(std::string_view key) {
    PolicyCache fresh(store_, core::default_policy_draft());
    EXPECT_TRUE(fresh.refresh());
    return capacity(fresh, key);
  }
  PolicyCache::Loss refresh() {
    PolicyCache::Loss loss;
    EXPECT_TRUE(cache_.refresh(&loss));
    return loss;
  }

  FakePolicies store_{/*forgetful=*/true};
  PolicyCache cache_{store_, core::default_policy_draft()};
};

TEST_F(ForgetfulPolicyCacheTest, takes_an_empty_store_for_a_new_one_if_it_never_knew_more) {
  EXPECT_EQ(refresh().missing, 0U);
  ASSERT_TRUE(store_.create(policy_draft("k", 7), {}));
  EXPECT_EQ(refresh().missing, 0U);
  EXPECT_EQ(capacity("k"), 7);
}

TEST_F(ForgetfulPolicyCacheTest, writes_back_what_an_emptied_store_lost) {
  ASSERT_TRUE(store_.create(policy_draft("k", 7), {}));
  ASSERT_TRUE(store_.update(policy_draft("k", 3), {}));
  ASSERT_TRUE(store_.create(policy_draft("user:*", 4), {}));
  refresh();
  store_.empty();
  const PolicyCache::Loss loss = refresh();
  EXPECT_EQ(loss.missing, 2U);
  EXPECT_EQ(loss.restored, 2U);
  EXPECT_EQ(capacity("k"), 3);
  EXPECT_EQ(capacity_in_store("k"), 3);
  EXPECT_EQ(capacity_in_store("user:1"), 4);
  EXPECT_EQ(store_.find("k").value()->version, 2);
  EXPECT_EQ(refresh().missing, 0U);
}

TEST_F(ForgetfulPolicyCacheTest, notices_a_loss_behind_as_many_changes_as_it_knows) {
  ASSERT_TRUE(store_.create(policy_draft("k", 3), {}));
  refresh();
  store_.empty();
  ASSERT_TRUE(store_.create(policy_draft("other", 5), {}));  // the same revision again
  EXPECT_EQ(refresh().restored, 1U);
  EXPECT_EQ(capacity("k"), 3);
  EXPECT_EQ(capacity("other"), 5);
}

TEST_F(ForgetfulPolicyCacheTest, believes_nothing_that_was_read_while_the_store_was_emptied) {
  ASSERT_TRUE(store_.create(policy_draft("k", 3), {}));
  refresh();
  ASSERT_TRUE(store_.create(policy_draft("new", 5), {}));
  store_.before_list = [this] {
    store_.empty();
    store_.before_list = [] {};
  };
  EXPECT_EQ(refresh().restored, 1U);
  EXPECT_EQ(capacity("k"), 3);
}

TEST_F(ForgetfulPolicyCacheTest, wins_over_an_older_store_with_changes_and_deletions) {
  ASSERT_TRUE(store_.create(policy_draft("k", 7), {}));
  ASSERT_TRUE(store_.create(policy_draft("gone", 5), {}));
  const auto older = store_.dump();
  ASSERT_TRUE(store_.update(policy_draft("k", 3), {}));
  ASSERT_TRUE(store_.remove("gone", {}));
  refresh();
  store_.go_back_to(older);
  EXPECT_EQ(refresh().restored, 2U);
  EXPECT_EQ(capacity_in_store("k"), 3);
  EXPECT_EQ(capacity_in_store("gone"), 100);
  EXPECT_EQ(capacity("gone"), 100);
}

TEST_F(ForgetfulPolicyCacheTest, knows_its_own_last_change_better_than_an_older_store) {
  cache_.put(*store_.create(policy_draft("k", 7), {}));
  cache_.put(*store_.create(policy_draft("gone", 5), {}));
  refresh();
  const auto older = store_.dump();
  cache_.put(*store_.update(policy_draft("k", 3), {}));
  ASSERT_TRUE(store_.remove("gone", {}));
  cache_.erase("gone");
  store_.go_back_to(older);  // a replica that had not heard of the last two
  EXPECT_EQ(refresh().restored, 2U);
  EXPECT_EQ(capacity_in_store("k"), 3);
  EXPECT_EQ(capacity_in_store("gone"), 100);
}

TEST_F(ForgetfulPolicyCacheTest, does_not_bring_back_what_was_deleted) {
  ASSERT_TRUE(store_.create(policy_draft("gone", 7), {}));
  refresh();
  PolicyCache other(store_, core::default_policy_draft());
  ASSERT_TRUE(store_.remove("gone", {}));
  ASSERT_TRUE(other.refresh());
  store_.empty();
  ASSERT_TRUE(other.refresh());  // knows the end, and writes it back
  EXPECT_EQ(refresh().restored, 0U);
  EXPECT_EQ(capacity("gone"), 100);
}

TEST_F(ForgetfulPolicyCacheTest, keeps_its_policies_in_force_while_they_cannot_be_written_back) {
  ASSERT_TRUE(store_.create(policy_draft("k", 3), {}));
  refresh();
  store_.empty();
  store_.takes_no_writes = true;
  for (int i = 0; i < 2; ++i) {
    PolicyCache::Loss loss;
    EXPECT_FALSE(cache_.refresh(&loss));
    EXPECT_EQ(loss.missing, 1U);
    EXPECT_EQ(capacity("k"), 3);
  }
  store_.takes_no_writes = false;
  EXPECT_EQ(refresh().restored, 1U);
  EXPECT_EQ(capacity_in_store("k"), 3);
}

TEST_F(ForgetfulPolicyCacheTest, gives_up_for_now_on_a_store_that_is_emptied_all_the_time) {
  ASSERT_TRUE(store_.create(policy_draft("k", 3), {}));
  refresh();
  store_.before_list = [this] { store_.empty(); };
  store_.empty();
  PolicyCache::Loss loss;
  EXPECT_FALSE(cache_.refresh(&loss));
  EXPECT_EQ(loss.missing, 1U);
  EXPECT_EQ(capacity("k"), 3);
}

}  // namespace
}  // namespace penstock::service
