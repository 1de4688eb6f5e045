// Policies that Redis lost are written back: on one server and on a cluster.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/policy/policy.h"
#include "store/limits/ports.h"
#include "store/redis/testing/test_server.h"

namespace penstock::store::redis {
namespace {

using Mark = PolicyRecovery::Mark;

class Recovery : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server().problem().empty()) << server().problem();
    store_ = open();
  }

  static TestServer& server() { return GetParam() ? TestServer::cluster() : TestServer::single(); }
  std::unique_ptr<RedisStore> open() {
    return open_store({.url = server().url(),
                       .cluster = GetParam(),
                       .deadline = Seconds{20},
                       .key_prefix = prefix_});
  }
  PolicyStore& policies() { return *store_->backend().limits.policies; }
  PolicyRecovery& recovery() { return *policies().recovery(); }

  static core::PolicyDraft draft(std::string key, std::int64_t capacity = 5) {
    core::PolicyDraft made = core::default_policy_draft();
    made.key = std::move(key);
    made.limit.capacity = capacity;
    return made;
  }
  std::vector<core::Policy> newest() {
    auto known = recovery().newest();
    EXPECT_TRUE(known) << known.error().what;
    return known.value_or(std::vector<core::Policy>{});
  }
  Mark mark() {
    auto mark = recovery().mark();
    EXPECT_TRUE(mark) << mark.error().what;
    return mark.value_or(Mark{});
  }
  std::optional<core::Policy> found(std::string_view key) {
    auto policy = policies().find(key);
    EXPECT_TRUE(policy) << policy.error().what;
    return policy.value_or(std::nullopt);
  }

  std::string key(const std::string& name) const {
    return "'{" + prefix_ + "policy}:" + name + "'";
  }
  std::string cli(const std::string& words) {
    return server().cli(GetParam() ? "-c " + words : words);
  }
  // As FLUSHALL does, of this test's keys alone.
  void empty() {
    for (const std::string& name : kept_) cli("DEL " + key(name));
  }
  // As a file from before does, or a replica that had not heard of the last changes.
  void keep_copy() {
    for (const std::string& name : kept_) cli("COPY " + key(name) + " " + key("old:" + name));
  }
  void go_back() {
    empty();
    for (const std::string& name : kept_) cli("COPY " + key("old:" + name) + " " + key(name));
  }

  const std::string prefix_ = fresh_prefix();
  const std::vector<std::string> kept_ = {"newest", "names",     "revision",
                                          "mark",   "history:k", "history:gone"};
  std::unique_ptr<RedisStore> store_;
};

TEST_P(Recovery, writes_back_what_was_lost_with_ids_versions_and_ends) {
  ASSERT_TRUE(policies().create(draft("gone"), std::nullopt));
  ASSERT_TRUE(policies().remove("gone", std::nullopt));
  ASSERT_TRUE(policies().create(draft("k", 7), std::nullopt));
  ASSERT_TRUE(policies().update(draft("k", 3), std::nullopt));
  const std::vector<core::Policy> known = newest();
  ASSERT_EQ(known.size(), 2U);
  const core::Policy before = *found("k");
  const Mark lost = mark();
  empty();
  EXPECT_EQ(mark(), (Mark{}));
  EXPECT_TRUE(newest().empty());

  EXPECT_EQ(recovery().restore(known), 2U);
  const auto k = found("k");
  ASSERT_TRUE(k);
  EXPECT_EQ(k->id, before.id);
  EXPECT_EQ(k->version, 2);
  EXPECT_EQ(k->changed, before.changed);
  EXPECT_EQ(k->draft.limit, before.draft.limit);
  EXPECT_EQ(k->draft.refill_text, before.draft.refill_text);
  EXPECT_EQ(policies().history("k", 10)->size(), 1U);
  EXPECT_FALSE(found("gone"));
  EXPECT_EQ(policies().list("", 10)->size(), 1U);
  const Mark restored = mark();
  EXPECT_NE(restored.epoch, "");
  EXPECT_NE(restored.epoch, lost.epoch);

  EXPECT_EQ(recovery().restore(known), 0U);
  EXPECT_EQ(mark(), restored) << "nothing was written, so nobody has to look";
  EXPECT_EQ(policies().create(draft("gone", 9), std::nullopt)->version, 3);
}

TEST_P(Recovery, gives_no_id_twice_after_a_loss) {
  for (const char* name : {"gone", "a", "k"}) {
    ASSERT_TRUE(policies().create(draft(name), std::nullopt));
  }
  const core::Policy last = *found("k");
  empty();
  EXPECT_EQ(recovery().restore({&last, 1}), 1U);  // a node that knows no more than this one
  const auto next = policies().create(draft("next"), std::nullopt);
  ASSERT_TRUE(next);
  EXPECT_GT(next->id, last.id);
  EXPECT_GT(policies().create(draft("after"), std::nullopt)->id, next->id);
}

TEST_P(Recovery, wins_over_an_older_store_and_never_over_a_newer_one) {
  ASSERT_TRUE(policies().create(draft("k", 7), std::nullopt));
  ASSERT_TRUE(policies().create(draft("gone"), std::nullopt));
  const std::vector<core::Policy> old = newest();
  keep_copy();
  ASSERT_TRUE(policies().update(draft("k", 3), std::nullopt));
  ASSERT_TRUE(policies().remove("gone", std::nullopt));
  const std::vector<core::Policy> known = newest();
  const Mark lost = mark();
  EXPECT_EQ(recovery().restore(old), 0U);
  EXPECT_EQ(mark(), lost);

  go_back();
  EXPECT_EQ(found("k")->version, 1);
  EXPECT_EQ(mark().epoch, lost.epoch);
  EXPECT_EQ(recovery().restore(known), 2U);
  EXPECT_EQ(found("k")->draft.limit.capacity, 3);
  EXPECT_FALSE(found("gone"));
  EXPECT_NE(mark().epoch, lost.epoch) << "others have to look, whatever the revision is";
}

TEST_P(Recovery, has_another_mark_after_as_many_changes_on_an_emptied_store) {
  ASSERT_TRUE(policies().create(draft("k"), std::nullopt));
  const Mark before = mark();
  empty();
  ASSERT_TRUE(policies().create(draft("k"), std::nullopt));
  EXPECT_EQ(mark().revision, before.revision);
  EXPECT_NE(mark().epoch, before.epoch);
}

// More than a page of each script.
TEST_P(Recovery, lets_two_nodes_write_back_at_once) {
  constexpr int kPolicies = 1'300;
  std::vector<core::Policy> known;
  for (int i = 1; i <= kPolicies; ++i) {
    known.push_back({.id = i, .version = 4, .draft = draft("p" + std::to_string(i), i)});
  }
  const auto second = open();
  std::size_t by_second = 0;
  std::thread other([&] {
    by_second = second->backend().limits.policies->recovery()->restore(known).value_or(0);
  });
  const std::size_t by_first = recovery().restore(known).value_or(0);
  other.join();
  EXPECT_EQ(by_first + by_second, static_cast<std::size_t>(kPolicies));
  EXPECT_EQ(newest().size(), static_cast<std::size_t>(kPolicies));
  EXPECT_EQ(found("p1300")->draft.limit.capacity, 1'300);
  EXPECT_EQ(policies().create(draft("next"), std::nullopt)->id, kPolicies + 1);
}

// As an earlier version left it.
TEST_P(Recovery, takes_up_policies_that_have_no_mark_yet) {
  ASSERT_TRUE(policies().create(draft("k", 7), std::nullopt));
  cli("DEL " + key("mark"));
  EXPECT_EQ(mark(), (Mark{.epoch = "", .revision = 1}));
  EXPECT_EQ(newest().size(), 1U);
  EXPECT_EQ(policies().create(draft("next"), std::nullopt)->id, 2);
  EXPECT_NE(mark().epoch, "");
}

INSTANTIATE_TEST_SUITE_P(Redis, Recovery, testing::Bool(), [](const auto& subject) {
  return std::string(subject.param ? "cluster" : "single");
});

}  // namespace
}  // namespace penstock::store::redis
