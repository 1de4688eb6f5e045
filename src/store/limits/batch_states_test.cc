#include "store/limits/batch_states.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/test_instants.h"
#include "core/limits/decide.h"

namespace penstock::store {
namespace {

core::Limit limit_of(std::int64_t capacity) {
  return {.capacity = capacity, .refill = {1, 1'000'000}, .window = Seconds{10}};
}

// Requests with their checks and the places for the answers.
class Requests {
 public:
  void add(std::vector<LimitCheck> checks, std::int64_t cost) {
    checks_.push_back(std::move(checks));
    statuses_.emplace_back(checks_.back().size());
    costs_.push_back(cost);
  }
  std::span<const LimitRequest> all() {
    requests_.clear();
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      requests_.push_back({.checks = checks_[i], .cost = costs_[i], .statuses = statuses_[i]});
    }
    answers_.assign(checks_.size(), fail(ErrorKind::corrupt, "no answer"));
    return requests_;
  }
  std::span<Result<LimitAnswer>> answers() { return answers_; }

 private:
  std::vector<std::vector<LimitCheck>> checks_;
  std::vector<std::vector<core::LimitStatus>> statuses_;
  std::vector<std::int64_t> costs_;
  std::vector<LimitRequest> requests_;
  std::vector<Result<LimitAnswer>> answers_;
};

TEST(BatchStates, has_each_key_once_in_byte_order) {
  Requests requests;
  requests.add({{.key = "b", .limit = limit_of(1)}, {.key = "a", .limit = limit_of(1)}}, 1);
  requests.add({{.key = "a", .limit = limit_of(1)}}, 1);
  requests.add({{.key = "\xc3\xbc", .limit = limit_of(1)}}, 1);
  const BatchStates states(requests.all());
  EXPECT_EQ(std::vector(states.keys().begin(), states.keys().end()),
            (std::vector<std::string_view>{"a", "b", "\xc3\xbc"}));
}

TEST(BatchStates, refuses_what_may_not_be_a_key_and_nothing_else) {
  const std::string long_key(513, 'k');
  Requests requests;
  for (const std::string_view key :
       {std::string_view(long_key), std::string_view(), std::string_view("\x01\xff\0", 3)}) {
    requests.add({{.key = "also good", .limit = limit_of(9)}, {.key = key, .limit = limit_of(1)}},
                 1);
  }
  BatchStates states(requests.all());
  EXPECT_EQ(states.keys().size(), 2U);
  states.decide(kStart, requests.answers());
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_FALSE(requests.answers()[i]);
    EXPECT_EQ(requests.answers()[i].error().field, "key");
  }
  EXPECT_TRUE(requests.answers()[2] && requests.answers()[2]->admitted);
  EXPECT_EQ(decode_record(states.changes().at(1).record)->use("", kStart).used, 1);
}

TEST(BatchStates, decides_the_checks_of_a_key_in_order_against_one_state) {
  Requests requests;
  for (int i = 0; i < 5; ++i) requests.add({{.key = "k", .limit = limit_of(3)}}, 1);
  BatchStates states(requests.all());
  states.decide(kStart, requests.answers());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(requests.answers()[i]->admitted, i < 3);
  const std::vector<BatchStates::Change> changes = states.changes();
  ASSERT_EQ(changes.size(), 1U);
  const Result<LimitRecord> record = decode_record(changes[0].record);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->capacity, 3);
  EXPECT_EQ(record->use("k", kStart).used, 3);
  EXPECT_TRUE(core::idle(record->state, changes[0].idle_at));
}

TEST(BatchStates, writes_nothing_for_looks_and_denials) {
  Requests first;
  first.add({{.key = "k", .limit = limit_of(1)}}, 1);
  BatchStates before(first.all());
  before.decide(kStart, first.answers());
  const std::string record = before.changes().at(0).record;

  Requests requests;
  requests.add({{.key = "k", .limit = limit_of(1)}}, 0);
  requests.add({{.key = "k", .limit = limit_of(1)}}, 1);
  BatchStates states(requests.all());
  states.load(0, record);
  states.decide(kStart, requests.answers());
  EXPECT_FALSE(requests.answers()[1]->admitted);
  EXPECT_TRUE(states.changes().empty());
  EXPECT_FALSE(states.only_looks());
}

TEST(BatchStates, keeps_what_a_denial_carried_over_to_another_limit) {
  Requests first;
  first.add({{.key = "k", .limit = limit_of(5)}}, 5);
  BatchStates before(first.all());
  before.decide(kStart, first.answers());

  Requests requests;
  requests.add({{.key = "k", .limit = limit_of(3)}}, 1);
  BatchStates states(requests.all());
  states.load(0, before.changes().at(0).record);
  states.decide(kStart, requests.answers());
  EXPECT_FALSE(requests.answers()[0]->admitted);
  ASSERT_EQ(states.changes().size(), 1U);
  EXPECT_EQ(decode_record(states.changes()[0].record)->capacity, 3);
}

TEST(BatchStates, fails_only_the_requests_that_need_a_broken_record) {
  Requests requests;
  requests.add({{.key = "bad", .limit = limit_of(1)}}, 1);
  requests.add({{.key = "good", .limit = limit_of(1)}, {.key = "bad", .limit = limit_of(1)}}, 1);
  requests.add({{.key = "good", .limit = limit_of(1)}}, 1);
  BatchStates states(requests.all());
  states.load(0, "no record");
  states.decide(kStart, requests.answers());
  EXPECT_EQ(requests.answers()[0].error().kind, ErrorKind::corrupt);
  EXPECT_FALSE(requests.answers()[1]);
  EXPECT_TRUE(requests.answers()[2]->admitted);
  EXPECT_EQ(states.changes().size(), 1U);
}

// Batches of any size, loaded and written back each time, decide as the core does one by one.
TEST(BatchStates, equals_the_core_over_a_random_history) {
  Rng rng(5);
  const std::array<std::string, 4> keys = {"a", "b", "c", "d"};
  std::map<std::string, std::string, std::less<>> engine;
  std::map<std::string, core::LimitState, std::less<>> model;
  Instant now = kStart;
  for (int round = 0; round < 400; ++round) {
    now += Micros{rng.between(0, 900'000)};
    Requests requests;
    const std::int64_t size = rng.between(1, 6);
    for (std::int64_t i = 0; i < size; ++i) {
      std::vector<LimitCheck> checks;
      const std::uint64_t from = rng.below(4);
      for (std::uint64_t k = 0; k <= rng.below(3); ++k) {
        checks.push_back({.key = keys[(from + k) % 4],
                          .limit = limit_of(rng.between(0, 9) == 0 ? 4 : 8),
                          .shadow = rng.below(5) == 0});
      }
      requests.add(std::move(checks), rng.between(-1, 3));
    }
    const std::span<const LimitRequest> all = requests.all();
    BatchStates states(all);
    for (std::size_t k = 0; k < states.keys().size(); ++k) {
      if (const auto found = engine.find(states.keys()[k]); found != engine.end()) {
        states.load(k, found->second);
      }
    }
    states.decide(now, requests.answers());
    for (const BatchStates::Change& change : states.changes()) {
      engine.insert_or_assign(std::string(states.keys()[change.key]), change.record);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<core::LimitUse> uses;
      for (const LimitCheck& check : all[i].checks) {
        uses.push_back({&check.limit, &model[std::string(check.key)], check.shadow});
      }
      std::vector<core::LimitStatus> expected(uses.size());
      const core::Verdict verdict = core::charge_all(uses, all[i].cost, now, expected);
      ASSERT_EQ(requests.answers()[i]->admitted, verdict.admitted);
      ASSERT_EQ(requests.answers()[i]->bound, verdict.bound);
      for (std::size_t c = 0; c < expected.size(); ++c) {
        ASSERT_EQ(all[i].statuses[c].remaining, expected[c].remaining);
        ASSERT_EQ(all[i].statuses[c].retry_after, expected[c].retry_after);
        ASSERT_EQ(all[i].statuses[c].reset_after, expected[c].reset_after);
      }
    }
  }
}

}  // namespace
}  // namespace penstock::store
