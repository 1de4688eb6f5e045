// What a backend of LimitStore hands to the conformance suite. In `<backend>_conformance.cc`:
//
//   #include "store/limits/conformance/limit_suite.h"
//   const auto kSubjects = testing::Values(LimitSubject{"redis", fresh});
//   INSTANTIATE_TEST_SUITE_P(Redis, LimitSuite, kSubjects, limit_subject_name);
//   INSTANTIATE_TEST_SUITE_P(Redis, LimitConcurrencySuite, kSubjects, limit_subject_name);
//   INSTANTIATE_TEST_SUITE_P(Redis, LimitDifferentialSuite, kSubjects, limit_subject_name);
//
// `fresh` makes a LimitHarness and starts what the backend needs; null fails the test.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"
#include "store/limits/ports.h"

namespace penstock::store::conformance {

// One backend under test, empty when it is made; what it holds goes with it. Its own clock should
// be near kLimitStart, or not be asked by what the suite calls with a given now.
class LimitHarness {
 public:
  LimitHarness() = default;
  LimitHarness(const LimitHarness&) = delete;
  LimitHarness& operator=(const LimitHarness&) = delete;
  virtual ~LimitHarness() = default;

  virtual LimitStore& limits() = 0;
};

struct LimitSubject {
  std::string name;
  std::function<std::unique_ptr<LimitHarness>()> fresh;

  friend std::ostream& operator<<(std::ostream& out, const LimitSubject& subject) {
    return out << subject.name;
  }
};

inline std::string limit_subject_name(const testing::TestParamInfo<LimitSubject>& info) {
  return info.param.name;
}

// The start of a window of any length used here.
inline constexpr Instant kLimitStart = from_epoch_millis(1'750'000'000'000 / 3'600'000 * 3'600'000);

inline constexpr std::array kLimitTypes = {
    core::LimitType::token_bucket, core::LimitType::gcra, core::LimitType::sliding_window,
    core::LimitType::sliding_window_counter, core::LimitType::fixed_window};

// One token a second, a window of ten.
inline core::Limit limit_of(core::LimitType type, std::int64_t capacity) {
  return {.type = type,
          .capacity = capacity,
          .refill = {.tokens = 1, .micros = 1'000'000},
          .window = Seconds{10}};
}

struct LimitAsk {
  std::string key;
  core::Limit limit = limit_of(core::LimitType::token_bucket, 10);
  bool shadow = false;
};

struct Decision {
  bool admitted = false;
  std::size_t bound = 0;
  std::vector<core::LimitStatus> statuses;
};

// Several requests and the places for their answers.
class LimitBatch {
 public:
  void add(std::vector<LimitAsk> asks, std::int64_t cost) {
    asks_.push_back(std::make_unique<std::vector<LimitAsk>>(std::move(asks)));
    costs_.push_back(cost);
  }

  std::vector<Decision> apply(LimitStore& store, std::optional<Instant> now) {
    std::vector<std::vector<LimitCheck>> checks(asks_.size());
    std::vector<Decision> decisions(asks_.size());
    std::vector<LimitRequest> requests(asks_.size());
    std::vector<Result<LimitAnswer>> answers(asks_.size(), fail(ErrorKind::corrupt, "no answer"));
    for (std::size_t i = 0; i < asks_.size(); ++i) {
      for (const LimitAsk& ask : *asks_[i]) {
        checks[i].push_back({.key = ask.key, .limit = ask.limit, .shadow = ask.shadow});
      }
      decisions[i].statuses.resize(checks[i].size());
      requests[i] = {.checks = checks[i], .cost = costs_[i], .statuses = decisions[i].statuses};
    }
    store.apply(requests, now, answers);
    for (std::size_t i = 0; i < asks_.size(); ++i) {
      EXPECT_TRUE(answers[i]) << answers[i].error().what;
      if (!answers[i]) continue;
      decisions[i].admitted = answers[i]->admitted;
      decisions[i].bound = answers[i]->bound;
    }
    return decisions;
  }

 private:
  std::vector<std::unique_ptr<std::vector<LimitAsk>>> asks_;
  std::vector<std::int64_t> costs_;
};

class LimitSuite : public testing::TestWithParam<LimitSubject> {
 protected:
  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
  }

  LimitHarness& harness() { return *harness_; }
  LimitStore& limits() { return harness_->limits(); }

  Decision ask(std::vector<LimitAsk> asks, std::int64_t cost, Instant now = kLimitStart) {
    LimitBatch batch;
    batch.add(std::move(asks), cost);
    return std::move(batch.apply(limits(), now).front());
  }
  // One key; its only status.
  core::LimitStatus ask(const std::string& key, const core::Limit& limit, std::int64_t cost,
                        Instant now = kLimitStart) {
    return ask({{.key = key, .limit = limit}}, cost, now).statuses.front();
  }

  std::optional<KeyUse> find(const std::string& key, Instant now = kLimitStart) {
    Result<std::optional<KeyUse>> use = limits().find(key, now);
    EXPECT_TRUE(use) << use.error().what;
    return use ? *use : std::nullopt;
  }
  std::int64_t used(const std::string& key, Instant now = kLimitStart) {
    const std::optional<KeyUse> use = find(key, now);
    return use ? use->used : 0;
  }
  std::vector<std::string> listed(const std::string& after, std::size_t limit,
                                  Instant now = kLimitStart) {
    const Result<std::vector<KeyUse>> uses = limits().list(after, limit, now);
    EXPECT_TRUE(uses) << uses.error().what;
    std::vector<std::string> keys;
    if (!uses) return keys;
    for (const KeyUse& use : *uses) keys.push_back(use.key);
    return keys;
  }

 private:
  std::unique_ptr<LimitHarness> harness_;
};

}  // namespace penstock::store::conformance
