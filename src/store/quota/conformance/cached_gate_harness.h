// What the suites of QuotaGate share. A gate instantiates CachedGateSuite,
// CachedGateDifferentialSuite and QuotaGateConcurrencySuite (quota_gate_suite.h) with a
// GateSubject.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/quota/cache_ports.h"
#include "store/quota/ports.h"

namespace penstock::store::conformance {

// One gate under test, without any config when it is made.
class GateHarness {
 public:
  GateHarness() = default;
  GateHarness(const GateHarness&) = delete;
  GateHarness& operator=(const GateHarness&) = delete;
  virtual ~GateHarness() = default;

  virtual QuotaGate& gate() = 0;
  virtual QuotaGate& other_gate() { return gate(); }  // of another node, if there can be one
  virtual QuotaStore& quotas() = 0;                   // whose configs and counts the gates go by
  virtual Instant now() = 0;
};

struct GateSubject {
  std::string name;
  std::function<std::unique_ptr<GateHarness>()> fresh;  // null fails the test

  friend std::ostream& operator<<(std::ostream& out, const GateSubject& subject) {
    return out << subject.name;
  }
};

inline std::string gate_name(const testing::TestParamInfo<GateSubject>& info) {
  return info.param.name;
}

class CachedGateHarness : public testing::TestWithParam<GateSubject> {
 protected:
  static constexpr UserId kCarla{201};
  static constexpr UserId kDavid{202};

  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the gate under test did not start";
    now_ = harness_->now();
  }

  QuotaStore& quotas() { return harness_->quotas(); }

  Quota put(UserId user, std::int64_t limit, std::int64_t minutes = 5) {
    const auto put =
        quotas().put(user, {.rate_limit = limit, .window = core::Minutes{minutes}}, now_);
    EXPECT_TRUE(put) << put.error().what;
    return put ? *put : Quota{};
  }

  Quota quota(UserId user) {
    const auto found = quotas().find(user);
    EXPECT_TRUE(found && *found) << "no quota of user " << user.raw;
    return found && *found ? **found : Quota{};
  }

  std::vector<Charged> charge(const std::vector<Charge>& charges) {
    std::vector<Charged> out;
    for (Result<Charged>& answer : harness_->gate().charge(charges, now_)) {
      EXPECT_TRUE(answer) << answer.error().what;
      out.push_back(answer ? *answer : Charged{.result = ChargeResult::unknown_user});
    }
    return out;
  }
  Charged charge(UserId user, std::int64_t cost = 1) {
    return charge({Charge{.user = user, .cost = cost}}).front();
  }

  void give_back(const std::vector<GiveBack>& charges) {
    const Result<void> done = harness_->gate().give_back(charges);
    EXPECT_TRUE(done) << done.error().what;
  }

  std::unique_ptr<GateHarness> harness_;
  Instant now_{};
};

}  // namespace penstock::store::conformance
