// What limits promise, said directly; the references are in reference_test.cc.
#include "core/limits/decide.h"

#include <array>
#include <deque>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/test_instants.h"
#include "core/limits/testing/reference.h"

namespace penstock::core {
namespace {

Limit limit_of(LimitType type, std::int64_t capacity) {
  return {.type = type,
          .capacity = capacity,
          .refill = {.tokens = 1, .micros = 1'000'000},
          .window = Seconds{10}};
}

struct Admission {
  Instant at{};
  std::int64_t cost = 0;
};

// A greedy client: asks often, for random costs, with a clock that sometimes goes back. Admissions
// are noted at the newest instant seen, which is when they really happened.
std::vector<Admission> greedy(const Limit& limit, std::uint64_t seed) {
  Rng rng(seed);
  LimitState state;
  Instant now = kStart;
  Instant newest = now;
  std::vector<Admission> admissions;
  for (int i = 0; i < 4'000; ++i) {
    now +=
        Micros{rng.below(50) == 0 ? rng.between(-5'000'000, 40'000'000) : rng.between(0, 300'000)};
    newest = std::max(newest, now);
    const std::int64_t cost = rng.between(1, 4);
    if (charge(limit, state, cost, now).admitted) admissions.push_back({newest, cost});
  }
  return admissions;
}

TEST(Buckets, never_admit_more_than_a_burst_and_the_refill_of_any_interval) {
  for (const LimitType type : {LimitType::token_bucket, LimitType::gcra}) {
    Limit limit = limit_of(type, 20);
    limit.refill = {.tokens = 7, .micros = 3'000'000};
    const std::vector<Admission> admissions = greedy(limit, 1);
    ASSERT_GT(admissions.size(), 500U);
    for (std::size_t from = 0; from < admissions.size(); ++from) {
      std::int64_t sum = 0;
      for (std::size_t to = from; to < std::min(from + 300, admissions.size()); ++to) {
        sum += admissions[to].cost;
        const std::int64_t elapsed = (admissions[to].at - admissions[from].at).count();
        ASSERT_LE(sum * limit.refill.micros,
                  limit.capacity * limit.refill.micros + elapsed * limit.refill.tokens);
      }
    }
  }
}

TEST(SlidingWindow, never_admits_more_than_its_capacity_in_any_window) {
  const Limit limit = limit_of(LimitType::sliding_window, 20);
  std::deque<Admission> window;
  std::int64_t sum = 0;
  std::int64_t most = 0;
  for (const Admission& admission : greedy(limit, 2)) {
    window.push_back(admission);
    sum += admission.cost;
    for (; window.front().at + limit.window <= admission.at; window.pop_front()) {
      sum -= window.front().cost;
    }
    ASSERT_LE(sum, limit.capacity);
    most = std::max(most, sum);
  }
  EXPECT_EQ(most, limit.capacity) << "the client was not greedy enough to show anything";
}

TEST(WindowLimits, never_admit_more_than_their_capacity_in_an_aligned_window) {
  for (const LimitType type : {LimitType::fixed_window, LimitType::sliding_window_counter}) {
    const Limit limit = limit_of(type, 20);
    std::map<std::int64_t, std::int64_t> sums;
    for (const Admission& admission : greedy(limit, 3)) {
      std::int64_t& sum = sums[admission.at.time_since_epoch() / limit.window];
      sum += admission.cost;
      ASSERT_LE(sum, limit.capacity);
    }
  }
}

TEST(Limits, give_one_burst_after_long_idleness) {
  for (const LimitType type : kAllTypes) {
    const Limit limit = limit_of(type, 10);
    LimitState state;
    ASSERT_TRUE(charge(limit, state, 10, kStart).admitted);
    const Instant later = kStart + std::chrono::days{3'650};
    EXPECT_EQ(evaluate(limit, state, 0, later).remaining, 10);
    EXPECT_TRUE(charge(limit, state, 10, later).admitted);
    EXPECT_FALSE(charge(limit, state, 1, later).admitted);
  }
}

TEST(Limits, mint_nothing_when_time_goes_back) {
  for (const LimitType type : kAllTypes) {
    const Limit limit = limit_of(type, 10);
    LimitState state;
    ASSERT_TRUE(charge(limit, state, 10, kStart).admitted);
    for (const Micros back :
         {Micros{1}, Micros{Seconds{3'600}}, Micros{std::chrono::days{10'000}}}) {
      const LimitStatus status = charge(limit, state, 1, kStart - back);
      EXPECT_FALSE(status.admitted);
      EXPECT_EQ(kStart - back + status.retry_after,
                kStart + charge(limit, state, 1, kStart).retry_after);
    }
    EXPECT_FALSE(charge(limit, state, 1, kStart).admitted);
  }
}

TEST(Limits, keep_the_usage_when_the_capacity_changes) {
  for (const LimitType type : kAllTypes) {
    LimitState state;
    ASSERT_TRUE(charge(limit_of(type, 10), state, 4, kStart).admitted);
    EXPECT_EQ(evaluate(limit_of(type, 20), state, 0, kStart).remaining, 16);
    EXPECT_EQ(evaluate(limit_of(type, 3), state, 0, kStart).remaining, 0);
    EXPECT_FALSE(charge(limit_of(type, 3), state, 1, kStart).admitted);
    EXPECT_EQ(evaluate(limit_of(type, 10), state, 0, kStart).remaining, 6);
  }
}

TEST(Limits, start_fresh_when_the_type_changes) {
  for (const LimitType from : kAllTypes) {
    for (const LimitType to : kAllTypes) {
      LimitState state;
      ASSERT_TRUE(charge(limit_of(from, 10), state, 10, kStart).admitted);
      EXPECT_EQ(evaluate(limit_of(to, 10), state, 0, kStart).remaining, from == to ? 0 : 10);
      EXPECT_EQ(charge(limit_of(to, 10), state, 10, kStart).admitted, from != to);
    }
  }
}

TEST(Limits, keep_the_usage_when_the_rate_or_the_window_changes) {
  for (const LimitType type : kAllTypes) {
    LimitState state;
    ASSERT_TRUE(charge(limit_of(type, 10), state, 4, kStart).admitted);
    Limit other = limit_of(type, 10);
    other.refill = {.tokens = 1, .micros = 3'000'000};
    other.window = Seconds{30};
    EXPECT_EQ(evaluate(other, state, 0, kStart).remaining, 6);
    EXPECT_EQ(used(state, kStart), 4) << "a look writes nothing";
    ASSERT_FALSE(charge(other, state, 7, kStart).admitted);
    // The denial promised by the new limit, and the promise holds.
    const Micros wait = evaluate(other, state, 7, kStart).retry_after;
    EXPECT_FALSE(evaluate(other, state, 7, kStart + wait - Micros{1}).admitted);
    EXPECT_TRUE(evaluate(other, state, 7, kStart + wait).admitted);
  }
}

TEST(Limits, admit_a_cost_above_the_capacity_never) {
  for (const LimitType type : kAllTypes) {
    LimitState state;
    for (const std::int64_t cost : {std::int64_t{11}, kCapacityMax, INT64_MAX}) {
      const LimitStatus status = charge(limit_of(type, 10), state, cost, kStart);
      EXPECT_FALSE(status.admitted);
      EXPECT_EQ(status.retry_after, kNever);
      EXPECT_EQ(status.remaining, 10);
    }
  }
}

TEST(Limits, take_back_no_more_than_is_used) {
  for (const LimitType type : kAllTypes) {
    const Limit limit = limit_of(type, 10);
    LimitState state;
    ASSERT_TRUE(charge(limit, state, 7, kStart).admitted);
    EXPECT_EQ(charge(limit, state, -2, kStart).remaining, 5);
    EXPECT_EQ(window_count(state, kStart), 5);
    for (const std::int64_t cost : {std::int64_t{-100}, INT64_MIN}) {
      const LimitStatus status = charge(limit, state, cost, kStart);
      EXPECT_TRUE(status.admitted);
      EXPECT_EQ(status.remaining, 10);
      EXPECT_EQ(status.reset_after, Micros::zero());
    }
    EXPECT_TRUE(idle(state, kStart));
    EXPECT_FALSE(charge(limit, state, 11, kStart).admitted);
    EXPECT_TRUE(charge(limit, state, 10, kStart).admitted);
  }
}

TEST(Limits, are_idle_once_nothing_is_used_nor_counted) {
  for (const LimitType type : kAllTypes) {
    const Limit limit = limit_of(type, 10);
    LimitState state;
    EXPECT_TRUE(idle(state, kStart));
    ASSERT_TRUE(charge(limit, state, 3, kStart).admitted);
    EXPECT_FALSE(idle(state, kStart));
    EXPECT_EQ(window_count(state, kStart), 3);
    EXPECT_GT(window_count(state, kStart + Seconds{10} - Micros{1}), 0);
    EXPECT_TRUE(idle(state, kStart + Seconds{20}));
    EXPECT_EQ(window_count(state, kStart + Seconds{20}), 0);
  }
}

TEST(Limits, know_from_when_on_they_are_idle) {
  Rng rng(11);
  for (const LimitType type : kAllTypes) {
    for (int round = 0; round < 300; ++round) {
      Limit limit = limit_of(type, rng.between(1, 50));
      limit.refill = {.tokens = rng.between(1, 9), .micros = rng.between(1, 3'000'000)};
      limit.window = Seconds{rng.between(1, 30)};
      LimitState state;
      Instant now = kStart;
      for (int i = 0; i < 10; ++i) {
        now += Micros{rng.between(0, 4'000'000)};
        charge(limit, state, rng.between(-5, 10), now);
      }
      const Instant at = idle_at(state);
      EXPECT_GE(at.time_since_epoch().count(), state.last);
      EXPECT_TRUE(idle(state, at));
      if (at.time_since_epoch().count() > state.last) {
        EXPECT_FALSE(idle(state, at - Micros{1}));
      }
    }
  }
}

TEST(SlidingWindow, counts_a_charge_for_exactly_its_window) {
  const Limit limit = limit_of(LimitType::sliding_window, 2);
  LimitState state;
  ASSERT_TRUE(charge(limit, state, 1, kStart).admitted);
  ASSERT_TRUE(charge(limit, state, 1, kStart + Seconds{4}).admitted);
  EXPECT_EQ(evaluate(limit, state, 1, kStart + Seconds{5}).retry_after, Seconds{5});
  EXPECT_FALSE(evaluate(limit, state, 1, kStart + Seconds{10} - Micros{1}).admitted);
  EXPECT_TRUE(evaluate(limit, state, 1, kStart + Seconds{10}).admitted);
  EXPECT_EQ(evaluate(limit, state, 2, kStart + Seconds{10}).retry_after, Seconds{4});
}

TEST(SlidingWindow, stays_exact_up_to_its_bound_and_errs_to_the_safe_side_beyond) {
  const std::int64_t window = Micros{Seconds{10}}.count();
  for (const std::int64_t charges : {std::int64_t{kLogEntriesMax}, std::int64_t{50'000}}) {
    const Limit limit = limit_of(LimitType::sliding_window, charges);
    LimitState state;
    const std::int64_t gap = window / charges;
    for (std::int64_t i = 0; i < charges; ++i) {
      ASSERT_TRUE(charge(limit, state, 1, kStart + Micros{i * gap}).admitted);
    }
    EXPECT_LE(state.log.count, kLogEntriesMax);
    EXPECT_LE(state.owned_bytes(), kLogEntriesMax * sizeof(LogEntry));
    const std::int64_t slack = charges > kLogEntriesMax ? window / 2'048 + 1 : 0;
    for (std::int64_t i = 0; i < charges; i += 97) {
      const Instant at = kStart + Micros{window + i * gap};
      EXPECT_GE(used(state, at), charges - i - 1) << "forgot a charge too early";
      EXPECT_LE(used(state, at + Micros{slack}), charges - i - 1) << "kept a charge too long";
    }
  }
}

TEST(SlidingWindow, gives_its_memory_back) {
  const Limit limit = limit_of(LimitType::sliding_window, 4'000);
  LimitState state;
  for (int i = 0; i < 4'000; ++i) ASSERT_TRUE(charge(limit, state, 1, kStart + Micros{i}).admitted);
  EXPECT_EQ(state.owned_bytes(), 4'096 * sizeof(LogEntry));
  for (int i = 0; i < 10; ++i) charge(limit, state, 1, kStart + Seconds{11 + i});
  EXPECT_LE(state.owned_bytes(), 64 * sizeof(LogEntry));
}

TEST(LimitState, copies_and_moves_its_log) {
  const Limit limit = limit_of(LimitType::sliding_window, 5);
  LimitState state;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(charge(limit, state, 1, kStart + Micros{i}).admitted);
  LimitState copy(state);
  EXPECT_EQ(charge(limit, copy, -3, kStart).remaining, 3);
  EXPECT_EQ(used(state, kStart), 5);
  LimitState moved(std::move(copy));
  EXPECT_EQ(used(moved, kStart), 2);
  copy = state;
  moved = std::move(copy);
  EXPECT_EQ(used(moved, kStart), 5);
}

TEST(LimitState, from_a_clock_ahead_comes_back_without_losing_usage) {
  for (const LimitType type : kAllTypes) {
    const Limit limit = limit_of(type, 10);
    LimitState state;
    ASSERT_TRUE(charge(limit, state, 10, kStart + Seconds{3'600}).admitted);
    bring_back(state, kStart);
    EXPECT_FALSE(charge(limit, state, 1, kStart).admitted);
    EXPECT_EQ(evaluate(limit, state, 0, kStart + Seconds{21}).remaining, 10);
  }
}

class ChargeAll : public testing::Test {
 protected:
  void add(std::int64_t capacity, bool shadow = false, LimitType type = LimitType::token_bucket) {
    limits_[count_] = {.type = type,
                       .capacity = capacity,
                       .refill = {.tokens = 1, .micros = 1'000'000},
                       .window = Seconds{10}};
    shadows_[count_++] = shadow;
  }
  Verdict ask(std::int64_t cost) {
    std::vector<LimitUse> uses;
    for (std::size_t i = 0; i < count_; ++i)
      uses.push_back({&limits_[i], &states_[i], shadows_[i]});
    statuses_.assign(count_, {});
    return charge_all(uses, cost, kStart, statuses_);
  }
  std::int64_t used_by(std::size_t i) { return used(states_[i], kStart); }

  std::vector<LimitStatus> statuses_;

 private:
  std::size_t count_ = 0;
  std::array<Limit, 8> limits_;
  std::array<LimitState, 8> states_;
  std::array<bool, 8> shadows_{};
};

TEST_F(ChargeAll, charges_every_limit_and_names_the_one_with_least_left) {
  add(10);
  add(5);
  add(5, false, LimitType::sliding_window);
  const Verdict verdict = ask(2);
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 1U);
  EXPECT_EQ(used_by(0), 2);
  EXPECT_EQ(used_by(1), 2);
  EXPECT_EQ(used_by(2), 2);
  EXPECT_EQ(statuses_[0].remaining, 8);
  EXPECT_EQ(statuses_[2].remaining, 3);
}

TEST_F(ChargeAll, charges_none_when_one_denies) {
  add(10);
  add(3);
  ASSERT_TRUE(ask(2).admitted);
  const Verdict verdict = ask(2);
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 1U);
  EXPECT_EQ(used_by(0), 2);
  EXPECT_EQ(used_by(1), 2);
  EXPECT_TRUE(statuses_[0].admitted) << "it would have admitted by itself";
  EXPECT_EQ(statuses_[0].remaining, 8) << "what is left without the charge";
  EXPECT_FALSE(statuses_[1].admitted);
}

TEST_F(ChargeAll, names_the_longest_wait_and_never_is_longest) {
  add(4);
  add(3);
  add(3);
  ASSERT_TRUE(ask(2).admitted);
  EXPECT_EQ(ask(3).bound, 1U) << "the first of equals";
  add(2);
  EXPECT_EQ(ask(3).bound, 3U);
  EXPECT_EQ(statuses_[3].retry_after, kNever);
}

TEST_F(ChargeAll, lets_a_shadow_deny_nothing_and_bind_nothing) {
  add(10);
  add(2, true);
  ASSERT_TRUE(ask(2).admitted);
  EXPECT_EQ(used_by(1), 2);
  const Verdict verdict = ask(1);
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 0U);
  EXPECT_FALSE(statuses_[1].admitted);
  EXPECT_EQ(used_by(0), 3);
  EXPECT_EQ(used_by(1), 2) << "charged only if it would have admitted";
}

TEST_F(ChargeAll, charges_no_shadow_when_another_denies) {
  add(1);
  add(100, true);
  EXPECT_FALSE(ask(2).admitted);
  EXPECT_EQ(used_by(1), 0);
}

TEST_F(ChargeAll, lets_shadows_bind_when_there_is_nothing_else) {
  add(10, true);
  add(1, true);
  const Verdict verdict = ask(2);
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.bound, 1U);
}

TEST_F(ChargeAll, looks_and_gives_back) {
  add(10);
  add(5);
  ASSERT_TRUE(ask(4).admitted);
  EXPECT_TRUE(ask(0).admitted);
  EXPECT_EQ(statuses_[1].remaining, 1);
  EXPECT_TRUE(ask(-3).admitted);
  EXPECT_EQ(used_by(0), 1);
  EXPECT_EQ(used_by(1), 1);
}

}  // namespace

}  // namespace penstock::core
