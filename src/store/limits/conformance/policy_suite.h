// The one suite that every backend of PolicyStore must pass. Include it in one file of the backend
// and instantiate PolicySuite there; harness.h shows how.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/policy/policy.h"
#include "store/limits/ports.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

class PolicySuite : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(harness_->backend().limits.policies, nullptr);
  }

  Harness& harness() { return *harness_; }
  PolicyStore& policies() { return *harness_->backend().limits.policies; }

  static core::PolicyDraft draft(std::string key, std::int64_t capacity = 5) {
    core::PolicyDraft made = core::default_policy_draft();
    made.key = std::move(key);
    made.limit.capacity = capacity;
    return made;
  }

  // Changes that must be accepted.
  core::Policy created(const core::PolicyDraft& wanted, Instant now = kNoon) {
    const Result<core::Policy> made = policies().create(wanted, now);
    EXPECT_TRUE(made) << made.error().what;
    return made.value_or(core::Policy{});
  }
  core::Policy updated(const core::PolicyDraft& wanted, Instant now = kNoon) {
    const Result<core::Policy> made = policies().update(wanted, now);
    EXPECT_TRUE(made) << made.error().what;
    return made.value_or(core::Policy{});
  }
  void removed(const std::string& key, Instant now = kNoon) {
    const Result<void> gone = policies().remove(key, now);
    EXPECT_TRUE(gone) << gone.error().what;
  }

  std::optional<core::Policy> found(const std::string& key) {
    const Result<std::optional<core::Policy>> policy = policies().find(key);
    EXPECT_TRUE(policy) << policy.error().what;
    return policy.value_or(std::nullopt);
  }
  std::vector<std::string> listed(const std::string& after = {}, std::size_t limit = 100) {
    const Result<std::vector<core::Policy>> page = policies().list(after, limit);
    EXPECT_TRUE(page) << page.error().what;
    std::vector<std::string> keys;
    for (const core::Policy& policy : page.value_or(std::vector<core::Policy>{})) {
      EXPECT_FALSE(policy.deleted);
      keys.push_back(policy.draft.key);
    }
    return keys;
  }
  std::vector<core::Policy> history(const std::string& key, std::size_t limit = 100) {
    const Result<std::vector<core::Policy>> versions = policies().history(key, limit);
    EXPECT_TRUE(versions) << versions.error().what;
    return versions.value_or(std::vector<core::Policy>{});
  }
  std::uint64_t revision() {
    const Result<std::uint64_t> revision = policies().revision();
    EXPECT_TRUE(revision) << revision.error().what;
    return revision.value_or(0);
  }

  static void expect_same(const core::PolicyDraft& a, const core::PolicyDraft& b) {
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.limit, b.limit);
    EXPECT_EQ(a.refill_text, b.refill_text);
    EXPECT_EQ(a.shadow, b.shadow);
    EXPECT_EQ(a.on_store_failure, b.on_store_failure);
  }

 private:
  std::unique_ptr<Harness> harness_;
};

TEST_P(PolicySuite, knows_nothing_at_first) {
  EXPECT_FALSE(found("k"));
  EXPECT_TRUE(listed().empty());
  EXPECT_TRUE(history("k").empty());
  EXPECT_EQ(revision(), revision());
}

TEST_P(PolicySuite, keeps_every_field_through_a_restart) {
  core::PolicyDraft wanted = draft("user:*|route:/ü", core::kCapacityMax);
  wanted.limit.type = core::LimitType::sliding_window_counter;
  wanted.limit.refill = *core::parse_rate("0.42857");
  wanted.limit.window = Seconds{3'600};
  wanted.refill_text = "0.42857";
  wanted.shadow = true;
  wanted.on_store_failure = core::OnStoreFailure::local;
  const core::Policy made = created(wanted, kNoon + Micros{5});
  EXPECT_EQ(made.version, 1);
  EXPECT_GT(made.id, 0);
  EXPECT_EQ(made.changed, kNoon + Micros{5});
  expect_same(made.draft, wanted);
  harness().reopen();
  const auto again = found(wanted.key);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, made.id);
  EXPECT_EQ(again->version, 1);
  EXPECT_EQ(again->changed, kNoon + Micros{5});
  EXPECT_FALSE(again->deleted);
  expect_same(again->draft, wanted);
}

TEST_P(PolicySuite, refuses_a_second_create_and_changes_nothing) {
  created(draft("k", 5));
  const std::uint64_t before = revision();
  const auto twice = policies().create(draft("k", 6), kNoon);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, ErrorKind::conflict);
  EXPECT_FALSE(twice.error().what.empty());
  EXPECT_EQ(found("k")->draft.limit.capacity, 5);
  EXPECT_EQ(revision(), before);
}

TEST_P(PolicySuite, never_creates_by_an_update_or_a_remove) {
  EXPECT_EQ(policies().update(draft("k"), kNoon).error().kind, ErrorKind::not_found);
  EXPECT_EQ(policies().remove("k", kNoon).error().kind, ErrorKind::not_found);
  created(draft("k"));
  removed("k");
  EXPECT_EQ(policies().update(draft("k"), kNoon).error().kind, ErrorKind::not_found);
  EXPECT_EQ(policies().remove("k", kNoon).error().kind, ErrorKind::not_found);
}

TEST_P(PolicySuite, refuses_what_no_policy_may_be) {
  const auto bad = policies().create(draft("k", 0), kNoon);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::invalid);
  EXPECT_EQ(bad.error().field, "capacity");
}

TEST_P(PolicySuite, counts_versions_and_keeps_the_id_through_the_end_of_a_policy) {
  const std::int64_t id = created(draft("k", 1), kNoon).id;
  EXPECT_NE(created(draft("other")).id, id);
  EXPECT_EQ(updated(draft("k", 2), kNoon + Seconds{1}).version, 2);
  removed("k", kNoon + Seconds{2});
  EXPECT_FALSE(found("k"));
  harness().reopen();
  EXPECT_FALSE(found("k"));
  const core::Policy again = created(draft("k", 4), kNoon + Seconds{3});
  EXPECT_EQ(again.version, 4);
  EXPECT_EQ(again.id, id);
  EXPECT_NE(created(draft("third")).id, id);

  const std::vector<core::Policy> versions = history("k");
  ASSERT_EQ(versions.size(), 4U);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    EXPECT_EQ(versions[i].version, 4 - static_cast<std::int64_t>(i));
    EXPECT_EQ(versions[i].id, id);
    EXPECT_EQ(versions[i].deleted, versions[i].version == 3);
    EXPECT_EQ(versions[i].changed, kNoon + Seconds{versions[i].version - 1});
  }
  EXPECT_EQ(versions[3].draft.limit.capacity, 1);
  ASSERT_EQ(history("k", 2).size(), 2U);
  EXPECT_EQ(history("k", 2)[0].version, 4);
  EXPECT_TRUE(history("k", 0).empty());
}

TEST_P(PolicySuite, lists_those_in_force_in_the_order_of_their_bytes) {
  for (const char* key : {"b", "a", "aa", "B", "a!", "ü", "gone"}) created(draft(key));
  updated(draft("a", 99));
  removed("gone");
  EXPECT_EQ(listed(), (std::vector<std::string>{"B", "a", "a!", "aa", "b", "ü"}));
  EXPECT_EQ(listed("a", 2), (std::vector<std::string>{"a!", "aa"}));
  EXPECT_EQ(listed("a0"), (std::vector<std::string>{"aa", "b", "ü"}));
  EXPECT_TRUE(listed("ü").empty());
}

TEST_P(PolicySuite, grows_its_revision_with_every_change_and_keeps_it) {
  std::uint64_t last = revision();
  const auto grown = [&] {
    const std::uint64_t now = revision();
    const bool more = now > last;
    last = now;
    return more;
  };
  created(draft("k"));
  EXPECT_TRUE(grown());
  updated(draft("k"));
  EXPECT_TRUE(grown());
  created(draft("other"));
  EXPECT_TRUE(grown());
  removed("k");
  EXPECT_TRUE(grown());
  EXPECT_FALSE(grown());
  harness().reopen();
  EXPECT_EQ(revision(), last);
}

TEST_P(PolicySuite, takes_its_own_clock_when_no_time_is_given) {
  const Instant before = harness().now();
  const auto made = policies().create(draft("k"), std::nullopt);
  ASSERT_TRUE(made);
  EXPECT_GE(made->changed, before);
  EXPECT_LE(made->changed, harness().now());
}

TEST_P(PolicySuite, lets_one_of_many_creates_win) {
  std::atomic<int> won{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        if (policies().create(draft("k" + std::to_string(k)), kNoon)) ++won;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 10);
  EXPECT_EQ(listed().size(), 10U);
}

}  // namespace penstock::store::conformance
