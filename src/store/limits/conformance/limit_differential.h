// Random histories, decided by the backend and by the pure functions of core/limits over a map,
// which must agree on every answer.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/limits/decide.h"
#include "store/limits/conformance/limit_harness.h"

namespace penstock::store::conformance {

// Draws batches from one seed: few keys, so that they are used up, whose limits change.
class LimitHistory {
 public:
  // `slow`: limits under which no key falls idle in the time that a history takes, so that time
  // may go back (a backend may forget an idle key, and with it the instant).
  LimitHistory(std::uint64_t seed, bool slow) : rng_(seed), slow_(slow) {}

  Rng& rng() { return rng_; }
  Instant now() const { return now_; }
  void pass_time() {
    now_ += Micros{rng_.below(10) == 0 && !slow_ ? rng_.between(0, 30'000'000)
                                                 : rng_.between(0, 500'000)};
    if (slow_ && rng_.below(8) == 0) now_ -= Micros{rng_.between(0, 1'000'000)};
  }

  std::vector<LimitAsk> asks() {
    std::vector<std::string> keys = {"a", "b", "c", "d", "e"};
    for (std::size_t at = keys.size(); at > 1; --at) std::swap(keys[at - 1], keys[rng_.below(at)]);
    keys.resize(rng_.below(3) == 0 ? rng_.between(2, 5) : 1);
    std::vector<LimitAsk> asks;
    for (std::string& key : keys) {
      const core::Limit limit = limit_for(key);
      asks.push_back({.key = std::move(key), .limit = limit, .shadow = rng_.below(10) == 0});
    }
    return asks;
  }
  std::int64_t cost() {
    switch (rng_.below(12)) {
      case 0:
        return 0;
      case 1:
        return -rng_.between(1, 4);
      case 2:
        return rng_.between(10, 40);
      default:
        return rng_.between(1, 3);
    }
  }

 private:
  core::Limit limit_for(const std::string& key) {
    constexpr std::array<core::Rate, 4> kFast = {core::Rate{1, 1'000'000}, core::Rate{7, 3'000'000},
                                                 core::Rate{3, 500'000}, core::Rate{1, 300'007}};
    core::Limit& limit = limits_[key];
    if (limit.window == Seconds{60} || rng_.below(25) == 0) {
      // Mostly the type by the key, so that changes of the rest are what happens most.
      const std::size_t type = rng_.below(15) == 0 ? rng_.below(5) : (key[0] - 'a') % 5U;
      limit.type = kLimitTypes[type];
      limit.capacity = rng_.between(1, 30);
      limit.refill = slow_ ? core::Rate{1, 3'000'000'000 + rng_.between(0, 5)}
                           : kFast[rng_.below(kFast.size())];
      limit.window = Seconds{slow_ ? rng_.between(3'000, 3'600) : rng_.between(1, 12)};
    }
    return limit;
  }

  Rng rng_;
  bool slow_;
  Instant now_ = kLimitStart + Seconds{1};
  std::map<std::string, core::Limit> limits_;
};

class LimitDifferentialSuite : public LimitSuite {
 protected:
  void run(std::uint64_t seed, bool slow, int steps) {
    LimitHistory history(seed, slow);
    std::map<std::string, core::LimitState> model;
    for (int step = 0; step < steps && !HasFailure(); ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      history.pass_time();
      LimitBatch batch;
      std::vector<Decision> expected;
      for (std::uint64_t count = 1 + history.rng().below(20); count > 0; --count) {
        std::vector<LimitAsk> asks = history.asks();
        const std::int64_t cost = history.cost();
        expected.push_back(decide(model, asks, cost, history.now()));
        batch.add(std::move(asks), cost);
      }
      const std::vector<Decision> decisions = batch.apply(limits(), history.now());
      for (std::size_t i = 0; i < decisions.size(); ++i) expect_same(decisions[i], expected[i]);
      if (step % 10 == 9) expect_same_use(model, history.now());
    }
  }

 private:
  static Decision decide(std::map<std::string, core::LimitState>& model,
                         const std::vector<LimitAsk>& asks, std::int64_t cost, Instant now) {
    std::vector<core::LimitUse> uses;
    for (const LimitAsk& ask : asks) {
      uses.push_back({.limit = &ask.limit, .state = &model[ask.key], .shadow = ask.shadow});
    }
    Decision decision{.statuses = std::vector<core::LimitStatus>(asks.size())};
    const core::Verdict verdict = core::charge_all(uses, cost, now, decision.statuses);
    decision.admitted = verdict.admitted;
    decision.bound = verdict.bound;
    return decision;
  }

  static void expect_same(const Decision& real, const Decision& model) {
    EXPECT_EQ(real.admitted, model.admitted);
    EXPECT_EQ(real.bound, model.bound);
    for (std::size_t i = 0; i < model.statuses.size(); ++i) {
      EXPECT_EQ(real.statuses[i].admitted, model.statuses[i].admitted);
      EXPECT_EQ(real.statuses[i].limit, model.statuses[i].limit);
      EXPECT_EQ(real.statuses[i].remaining, model.statuses[i].remaining);
      EXPECT_EQ(real.statuses[i].retry_after, model.statuses[i].retry_after);
      EXPECT_EQ(real.statuses[i].reset_after, model.statuses[i].reset_after);
    }
  }

  void expect_same_use(const std::map<std::string, core::LimitState>& model, Instant now) {
    for (const auto& [key, state] : model) {
      const std::optional<KeyUse> use = find(key, now);
      EXPECT_EQ(use.has_value(), !core::idle(state, now)) << key;
      if (!use) continue;
      EXPECT_EQ(use->used, core::used(state, now)) << key;
      EXPECT_EQ(use->window_count, core::window_count(state, now)) << key;
    }
  }
};

TEST_P(LimitDifferentialSuite, decides_as_the_core_does_while_keys_come_and_go) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    run(seed, false, 150);
    if (HasFailure()) return;
    SetUp();
  }
}

TEST_P(LimitDifferentialSuite, decides_as_the_core_does_when_time_goes_back) {
  for (const std::uint64_t seed : {11, 12, 13, 14}) {
    run(seed, true, 150);
    if (HasFailure()) return;
    SetUp();
  }
}

}  // namespace penstock::store::conformance
