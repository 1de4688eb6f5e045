// A gate against core::charge_quota over random histories; and many threads at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "store/quota/conformance/cached_gate_harness.h"

namespace penstock::store::conformance {

class CachedGateDifferentialSuite : public CachedGateHarness {
 protected:
  static constexpr std::int32_t kUsers = 6;

  void step(Rng& rng) {
    const UserId user{static_cast<std::int32_t>(rng.below(kUsers))};
    const std::uint64_t choice = rng.below(20);
    if (choice == 0) {
      const QuotaRule rule{
          .rate_limit = rng.below(4) == 0 ? rng.between(200, 700) : rng.between(1, 12),
          .window = core::Minutes{rng.between(1, 4)}};
      ASSERT_TRUE(quotas().put(user, rule, now_));
      model_[user] = core::begin_quota(rule, now_);
    } else if (choice == 1 && rng.below(4) == 0) {
      ASSERT_EQ(quotas().remove(user), model_.erase(user) > 0);
    } else if (choice < 6 && !charged_.empty()) {
      give_some_back(rng);
    } else {
      charge_some(rng);
    }
    now_ += Micros{rng.between(1, 20'000'000)};
  }

  void charge_some(Rng& rng) {
    std::vector<Charge> charges;
    const std::int64_t most = rng.below(5) == 0 ? 90 : 4;
    for (std::uint64_t i = rng.below(12); i-- > 0;) {
      charges.push_back({.user = UserId{static_cast<std::int32_t>(rng.below(kUsers + 1))},
                         .cost = rng.between(1, most)});
    }
    const std::vector<Charged> answers = charge(charges);
    ASSERT_EQ(answers.size(), charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i) {
      const auto found = model_.find(charges[i].user);
      if (found == model_.end()) {
        ASSERT_EQ(answers[i].result, ChargeResult::unknown_user) << "of charge " << i;
        continue;
      }
      const core::QuotaStep expected = core::charge_quota(found->second, charges[i].cost, now_);
      ASSERT_EQ(static_cast<int>(answers[i].result), static_cast<int>(expected.verdict))
          << "of charge " << i << " of " << charges[i].cost << " by " << found->second.count << "/"
          << found->second.rule.rate_limit;
      ASSERT_EQ(answers[i].retry_after, expected.retry_after);
      found->second = expected.next;
      if (expected.verdict == core::QuotaVerdict::admitted) {
        charged_.push_back({.back = {.user = charges[i].user,
                                     .cost = charges[i].cost,
                                     .window = answers[i].window},
                            .in = expected.next.refreshed});
      }
    }
  }

  void give_some_back(Rng& rng) {
    std::vector<GiveBack> backs;
    for (std::uint64_t i = 1 + rng.below(3); i-- > 0 && !charged_.empty();) {
      const auto one = charged_.begin() + static_cast<std::ptrdiff_t>(rng.below(charged_.size()));
      backs.push_back(one->back);
      if (const auto found = model_.find(one->back.user); found != model_.end()) {
        found->second = core::give_back_quota(found->second, one->back.cost, one->in);
      }
      charged_.erase(one);
    }
    give_back(backs);
  }

  void compare() {
    for (std::int32_t user = 0; user < kUsers; ++user) {
      const auto found = model_.find(UserId{user});
      ASSERT_EQ(*quotas().find(UserId{user}),
                found == model_.end() ? std::nullopt : std::optional(found->second))
          << "user " << user;
    }
  }

  struct Kept {
    GiveBack back;
    Instant in{};
  };
  std::map<UserId, Quota> model_;
  std::vector<Kept> charged_;
};

TEST_P(CachedGateDifferentialSuite, decides_as_the_core_does) {
  Rng rng(20'261'117);
  for (int i = 0; i < 600; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(rng)) << "step " << i;
    if (i % 25 == 0) {
      ASSERT_NO_FATAL_FAILURE(compare()) << "after step " << i;
    }
  }
  compare();
}

class QuotaGateConcurrencySuite : public CachedGateHarness {
 protected:
  // One charge each from so many threads, half of them at another node.
  int charge_at_once(UserId user, int threads) {
    std::atomic<int> charged{0};
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        QuotaGate& gate = i % 2 == 0 ? harness_->gate() : harness_->other_gate();
        const Charge one{.user = user};
        const auto answers = gate.charge({&one, 1}, now_);
        if (answers[0] && answers[0]->result == ChargeResult::charged) ++charged;
      });
    }
    running.clear();
    return charged;
  }
};

TEST_P(QuotaGateConcurrencySuite, exactly_one_wins_the_last_slot) {
  Rng rng(6);
  for (int i = 0; i < 100; ++i) {
    const UserId user{static_cast<std::int32_t>(rng.below(1U << 31))};
    const std::int64_t limit = rng.between(1, 8);
    put(user, limit);
    for (std::int64_t used = 0; used + 1 < limit; ++used) charge(user);
    ASSERT_EQ(charge_at_once(user, 2 + static_cast<int>(rng.below(6))), 1);
    ASSERT_EQ(quota(user).count, limit);
  }
}

TEST_P(QuotaGateConcurrencySuite, never_charges_more_than_the_limit_nor_less) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 60;
  constexpr int kUsers = 4;
  constexpr std::int64_t kLimit = 300;
  for (int user = 0; user < kUsers; ++user) put(UserId{user}, kLimit, 1'000);
  std::atomic<std::int64_t> charged{0};
  std::atomic<int> failed{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      QuotaGate& gate = thread % 2 == 0 ? harness_->gate() : harness_->other_gate();
      std::vector<Charge> charges;
      for (int user = 0; user < kUsers; ++user) {
        charges.push_back({.user = UserId{thread % 2 == 0 ? user : kUsers - 1 - user}});
      }
      for (int round = 0; round < kRounds; ++round) {
        for (const Result<Charged>& answer : gate.charge(charges, now_)) {
          if (!answer) {
            ++failed;
          } else if (answer->result == ChargeResult::charged) {
            ++charged;
          }
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(charged, kUsers * kLimit);
}

}  // namespace penstock::store::conformance
