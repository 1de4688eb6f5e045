// The rules of QuotaGate, one at a time, then against core's rules over random charges, and by many
// threads at once.
#pragma once

#include <algorithm>
#include <map>
#include <thread>

#include "store/quota/conformance/quota_harness.h"

namespace penstock::store::conformance {

class QuotaGateSuite : public QuotaHarness {
 protected:
  QuotaGate& gate() { return quotas(); }

  std::vector<Charged> charge(const std::vector<Charge>& charges) {
    std::vector<Charged> out;
    for (const Result<Charged>& answer : gate().charge(charges, now_)) {
      EXPECT_TRUE(answer) << answer.error().what;
      out.push_back(answer.value_or(Charged{}));
    }
    return out;
  }
  Charged charge(UserId user, std::int64_t cost = 1) {
    return charge(std::vector{Charge{.user = user, .cost = cost}}).front();
  }
  void give_back(UserId user, std::int64_t cost, std::int64_t window) {
    const GiveBack one{.user = user, .cost = cost, .window = window};
    const auto given = gate().give_back(std::span(&one, 1));
    EXPECT_TRUE(given) << given.error().what;
  }
};

TEST_P(QuotaGateSuite, charges_without_a_message) {
  const Quota made = put(kAnna, 3);
  const std::vector<Charged> charged =
      charge({{kAnna, 1}, {kBoris, 1}, {kAnna, 2}, {kAnna, 1}, {kAnna, 4}});
  EXPECT_EQ(charged[0].result, ChargeResult::charged);
  EXPECT_EQ(charged[0].window, made.refreshed.time_since_epoch().count());
  EXPECT_EQ(charged[1].result, ChargeResult::unknown_user);
  EXPECT_EQ(charged[2].result, ChargeResult::charged);
  EXPECT_EQ(charged[3].result, ChargeResult::limited);
  EXPECT_EQ(charged[3].retry_after, core::Minutes{5});
  EXPECT_EQ(charged[4].result, ChargeResult::never);
  EXPECT_EQ(quota(kAnna).count, 3);
  EXPECT_EQ(queued(), 0U);
  EXPECT_TRUE(usage(kAnna, now_, now_ + Seconds{1}).empty()) << "who publishes counts what is sent";
  harness_->reopen();
  EXPECT_EQ(quota(kAnna).count, 3);
}

TEST_P(QuotaGateSuite, a_window_of_a_clock_that_was_ahead_ends_a_window_from_now) {
  put(kAnna, 2, 1);
  const Instant today = now_;
  now_ += std::chrono::days{1};
  charge(kAnna, 2);
  now_ = today;
  EXPECT_EQ(charge(kAnna).retry_after, core::Minutes{1});
  now_ += Seconds{59};
  EXPECT_EQ(charge(kAnna).retry_after, Seconds{1});
  now_ += Seconds{1};
  EXPECT_EQ(charge(kAnna).result, ChargeResult::charged);
}

TEST_P(QuotaGateSuite, gives_back_what_could_not_be_published) {
  put(kAnna, 5);
  const std::int64_t window = charge(kAnna, 3).window;
  charge(kAnna, 2);
  give_back(kAnna, 3, window);
  EXPECT_EQ(quota(kAnna).count, 2);
  harness_->reopen();
  EXPECT_EQ(quota(kAnna).count, 2);
  const std::vector<GiveBack> both = {{kAnna, 1, window}, {kBoris, 1, window}, {kAnna, 1, window}};
  EXPECT_TRUE(gate().give_back(both)) << "a user that is gone has nothing to be given";
  EXPECT_EQ(quota(kAnna).count, 0);
  give_back(kAnna, 1, window);
  EXPECT_EQ(quota(kAnna).count, 0);
}

TEST_P(QuotaGateSuite, does_not_give_back_to_another_window) {
  put(kAnna, 2, 5);
  const std::int64_t first = charge(kAnna).window;
  now_ += core::Minutes{5};
  const std::int64_t second = charge(kAnna).window;
  EXPECT_NE(first, second);
  give_back(kAnna, 1, first);
  EXPECT_EQ(quota(kAnna).count, 1);
  now_ += Seconds{1};
  put(kAnna, 2, 5);  // a changed config begins a window, too
  charge(kAnna);
  give_back(kAnna, 1, second);
  EXPECT_EQ(quota(kAnna).count, 1);
}

TEST_P(QuotaGateSuite, charges_and_messages_share_one_count) {
  put(kAnna, 2);
  EXPECT_EQ(charge(kAnna).result, ChargeResult::charged);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
  EXPECT_EQ(charge(kAnna).result, ChargeResult::limited);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::limited);
}

TEST_P(QuotaGateSuite, nothing_to_charge_is_done) {
  EXPECT_TRUE(gate().charge({}, now_).empty());
  EXPECT_TRUE(gate().give_back({}));
}

TEST_P(QuotaGateSuite, does_as_the_rules_do) {
  constexpr int kUsers = 5;
  Rng rng(20'261'117);
  std::map<UserId, Quota> model;
  std::vector<GiveBack> given;  // charged before, to be given back some time
  for (int i = 0; i < 400; ++i) {
    const UserId user{static_cast<std::int32_t>(rng.below(kUsers))};
    if (rng.below(20) == 0) {
      model[user] = put(user, rng.between(1, 10), rng.between(1, 4));
    } else if (rng.below(4) == 0 && !given.empty()) {
      const std::size_t count = 1 + rng.below(given.size());
      for (const GiveBack& each : std::span(given).first(count)) {
        if (!model.contains(each.user)) continue;
        model[each.user] =
            core::give_back_quota(model[each.user], each.cost, Instant{Micros{each.window}});
      }
      ASSERT_TRUE(gate().give_back(std::span(given).first(count)));
      given.erase(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count));
    } else {
      std::vector<Charge> charges;
      for (std::uint64_t n = rng.below(12); n-- > 0;) {
        charges.push_back({.user = UserId{static_cast<std::int32_t>(rng.below(kUsers))},
                           .cost = rng.between(1, 3)});
      }
      const auto answers = gate().charge(charges, now_);
      ASSERT_EQ(answers.size(), charges.size());
      for (std::size_t j = 0; j < charges.size(); ++j) {
        ASSERT_TRUE(answers[j]) << answers[j].error().what;
        const auto known = model.find(charges[j].user);
        if (known == model.end()) {
          ASSERT_EQ(answers[j]->result, ChargeResult::unknown_user);
          continue;
        }
        const core::QuotaStep step = core::charge_quota(known->second, charges[j].cost, now_);
        known->second = step.next;
        ASSERT_EQ(static_cast<int>(answers[j]->result), static_cast<int>(step.verdict));
        ASSERT_EQ(answers[j]->retry_after, step.retry_after);
        if (step.verdict != core::QuotaVerdict::admitted) continue;
        ASSERT_EQ(answers[j]->window, step.next.refreshed.time_since_epoch().count());
        given.push_back({charges[j].user, charges[j].cost, answers[j]->window});
      }
    }
    now_ += Micros{rng.between(1, 30'000'000)};
    for (const auto& [each, expected] : model) ASSERT_EQ(quota(each), expected) << "step " << i;
  }
}

// Threads that charge the same users in opposite orders and give some of it back.
TEST_P(QuotaGateSuite, never_charges_more_than_the_limit) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 25;
  constexpr int kUsers = 4;
  constexpr std::int64_t kLimit = 40;
  for (int user = 0; user < kUsers; ++user) put(UserId{user}, kLimit, 1'000);
  std::atomic<std::int64_t> held{0};
  std::atomic<int> failed{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<Charge> charges;
        for (int user = 0; user < kUsers; ++user) {
          charges.push_back({UserId{(thread + round) % 2 == 0 ? user : kUsers - 1 - user}, 1});
        }
        std::vector<GiveBack> back;
        const auto answers = gate().charge(charges, now_);
        for (std::size_t i = 0; i < charges.size(); ++i) {
          if (!answers[i]) {
            ++failed;
          } else if (answers[i]->result == ChargeResult::charged) {
            ++held;
            if (i % 2 == 0) back.push_back({charges[i].user, 1, answers[i]->window});
          }
        }
        if (round % 3 != 0) continue;
        if (!gate().give_back(back)) ++failed;
        held -= static_cast<std::int64_t>(back.size());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
  std::int64_t counted = 0;
  for (int user = 0; user < kUsers; ++user) {
    EXPECT_LE(quota(UserId{user}).count, kLimit);
    counted += quota(UserId{user}).count;
  }
  EXPECT_EQ(counted, held);
}

}  // namespace penstock::store::conformance
