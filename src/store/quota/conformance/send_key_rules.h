// The rules of SendKeys, one at a time, and by many threads at once.
#pragma once

#include <atomic>
#include <thread>

#include "store/quota/conformance/quota_harness.h"

namespace penstock::store::conformance {

class SendKeySuite : public QuotaHarness {
 protected:
  static constexpr Millis kLive = Seconds{7};

  void SetUp() override {
    QuotaHarness::SetUp();
    ASSERT_NE(harness_->backend().quota.keys, nullptr);
  }
  SendKeys& keys() { return *harness_->backend().quota.keys; }

  KeyClaim key(std::string name, std::string text = "Hello", UserId user = kAnna) {
    return {.user = user,
            .key = std::move(name),
            .digest = digest_of(text),
            .id = core::make_message_id(now_, user, mix64(++drawn_), 0)};
  }
  std::vector<KeyView> claim(const std::vector<KeyClaim>& claims) {
    const auto views = keys().claim(claims, kLive, now_);
    EXPECT_TRUE(views) << views.error().what;
    return views.value_or(std::vector<KeyView>(claims.size()));
  }
  KeyView claim(const KeyClaim& one) { return claim(std::vector{one}).front(); }
  KeyView look(const KeyClaim& one) {
    const auto views = keys().look(std::span(&one, 1), kLive, now_);
    EXPECT_TRUE(views) << views.error().what;
    return views ? views->front() : KeyView{};
  }
  bool settle(const KeyClaim& one, std::int64_t stamp, KeyEnd end) {
    const KeySettlement settlement{one.user, one.key, stamp, end};
    const auto mine = keys().settle(std::span(&settlement, 1), now_);
    EXPECT_TRUE(mine) << mine.error().what;
    return mine && mine->front();
  }
};

TEST_P(SendKeySuite, a_key_is_claimed_and_accepted) {
  const KeyClaim first = key("k");
  EXPECT_EQ(look(first).state, KeyState::free);
  const KeyView mine = claim(first);
  EXPECT_EQ(mine.state, KeyState::free);
  EXPECT_EQ(mine.id, first.id);
  harness_->reopen();
  EXPECT_EQ(look(key("k")).state, KeyState::pending);
  EXPECT_EQ(claim(key("k")).state, KeyState::pending);
  EXPECT_EQ(claim(key("k", "Another")).state, KeyState::different);
  EXPECT_EQ(claim(key("k", "Hello", kBoris)).state, KeyState::free) << "a key is its user's own";
  now_ += Seconds{1};
  EXPECT_TRUE(settle(first, mine.claim, KeyEnd::accepted));
  harness_->reopen();
  for (const KeyView& view : {look(key("k")), claim(key("k"))}) {
    EXPECT_EQ(view.state, KeyState::accepted);
    EXPECT_EQ(view.id, first.id);
  }
  EXPECT_EQ(look(key("k", "Another")).state, KeyState::different);
  EXPECT_EQ(claim(key("k", "Another")).state, KeyState::different);
  EXPECT_FALSE(settle(first, mine.claim, KeyEnd::dropped)) << "it is settled";
  now_ += core::kKeyTerm;
  EXPECT_EQ(look(key("k")).state, KeyState::free);
  EXPECT_EQ(claim(key("k", "Another")).state, KeyState::free);
}

TEST_P(SendKeySuite, what_was_accepted_is_known_to_the_outbox_too) {
  put(kAnna, 5);
  const KeyClaim first = key("k");
  EXPECT_TRUE(settle(first, claim(first).claim, KeyEnd::accepted));
  EXPECT_EQ(send(message(kAnna, "Hello", "k")).id, first.id);
  EXPECT_EQ(send(message(kAnna, "Another", "k")).result, SendResult::different);
  const Send other = message(kAnna, "Hello", "k-2");
  send(other);
  EXPECT_EQ(look(key("k-2")).id, other.id);
}

TEST_P(SendKeySuite, a_key_that_is_dropped_is_free) {
  const KeyClaim first = key("k");
  const std::int64_t stamp = claim(first).claim;
  EXPECT_TRUE(settle(first, stamp, KeyEnd::dropped));
  EXPECT_EQ(look(key("k", "Another")).state, KeyState::free);
  const KeyClaim second = key("k", "Another");
  EXPECT_EQ(claim(second).id, second.id);
}

TEST_P(SendKeySuite, a_key_that_is_left_goes_on_with_its_message) {
  const KeyClaim first = key("k");
  const std::int64_t stamp = claim(first).claim;
  EXPECT_TRUE(settle(first, stamp, KeyEnd::left));
  EXPECT_EQ(look(key("k")).state, KeyState::left);
  EXPECT_EQ(look(key("k")).id, first.id);
  EXPECT_EQ(claim(key("k", "Another")).state, KeyState::different);
  const KeyView again = claim(key("k"));
  EXPECT_EQ(again.state, KeyState::left);
  EXPECT_EQ(again.id, first.id);
  EXPECT_NE(again.claim, stamp);
  EXPECT_EQ(claim(key("k")).state, KeyState::pending);
  EXPECT_FALSE(settle(first, stamp, KeyEnd::dropped)) << "another has it";
  EXPECT_TRUE(settle(first, again.claim, KeyEnd::accepted));
  EXPECT_EQ(look(key("k")).id, first.id);
}

TEST_P(SendKeySuite, what_a_crash_leaves_is_left_after_its_time) {
  const KeyClaim first = key("k");
  claim(first);
  harness_->reopen();
  now_ += kLive - Micros{1};
  EXPECT_EQ(look(key("k")).state, KeyState::pending);
  now_ += Micros{1};
  EXPECT_EQ(look(key("k")).state, KeyState::left);
  const KeyView again = claim(key("k"));
  EXPECT_EQ(again.state, KeyState::left);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(claim(key("k")).state, KeyState::pending) << "its time begins anew";
}

TEST_P(SendKeySuite, claims_in_order_and_settles_together) {
  const std::vector<KeyClaim> claims = {key("b"), key("a"), key("b"), key("b", "Another"),
                                        key("b", "Hello", kBoris)};
  const std::vector<KeyView> views = claim(claims);
  EXPECT_EQ(views[0].state, KeyState::free);
  EXPECT_EQ(views[1].state, KeyState::free);
  EXPECT_EQ(views[2].state, KeyState::pending);
  EXPECT_EQ(views[3].state, KeyState::different);
  EXPECT_EQ(views[4].state, KeyState::free);
  const std::vector<KeySettlement> ends = {{kAnna, "b", views[0].claim, KeyEnd::accepted},
                                           {kAnna, "none", 1, KeyEnd::accepted},
                                           {kAnna, "a", views[1].claim, KeyEnd::dropped},
                                           {kBoris, "b", views[4].claim, KeyEnd::left}};
  EXPECT_EQ(keys().settle(ends, now_), (std::vector{true, false, true, true}));
  EXPECT_EQ(look(key("b")).id, claims[0].id);
  EXPECT_EQ(look(key("a")).state, KeyState::free);
  EXPECT_EQ(look(key("b", "Hello", kBoris)).state, KeyState::left);
}

TEST_P(SendKeySuite, old_claims_are_forgotten) {
  claim(key("old"));
  now_ += core::kKeyTerm;
  claim(key("new"));
  const auto sweep = quotas().forget(now_ - Seconds{1}, now_ - Seconds{1}, kMany);
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->gone, 1U);
  EXPECT_EQ(look(key("old")).state, KeyState::free);
  EXPECT_EQ(look(key("new")).state, KeyState::pending);
}

TEST_P(SendKeySuite, nothing_to_claim_is_done) {
  EXPECT_TRUE(keys().look({}, kLive, now_)->empty());
  EXPECT_TRUE(keys().claim({}, kLive, now_)->empty());
  EXPECT_TRUE(keys().settle({}, now_)->empty());
}

// Whoever claims a key has it alone until it is settled; an accepted one is never free again.
TEST_P(SendKeySuite, one_key_at_once_has_one_owner) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 40;
  std::vector<KeyClaim> claims;
  for (int i = 0; i < kThreads * kRounds; ++i) claims.push_back(key("k" + std::to_string(i % 9)));
  std::atomic<int> accepted{0};
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < kRounds; ++round) {
          const KeyClaim& one = claims[static_cast<std::size_t>(thread * kRounds + round)];
          const auto views = keys().claim(std::span(&one, 1), kLive, now_);
          if (!views) {
            ++failed;
            continue;
          }
          if (views->front().state != KeyState::free) continue;
          const KeyEnd end = (thread + round) % 4 == 0 ? KeyEnd::accepted : KeyEnd::dropped;
          const KeySettlement done{one.user, one.key, views->front().claim, end};
          const auto mine = keys().settle(std::span(&done, 1), now_);
          if (!mine || !mine->front()) ++failed;
          if (end == KeyEnd::accepted) ++accepted;
        }
      });
    }
  }
  EXPECT_EQ(failed, 0);
  EXPECT_GT(accepted, 0);
  EXPECT_LE(accepted, 9) << "a key was accepted twice";
}

}  // namespace penstock::store::conformance
