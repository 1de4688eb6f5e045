// What a backend that nodes share hands to SharedUsageSuite and SharedFaultSuite: nodes on one
// engine, and the power over that engine.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/clocks.h"
#include "store/backend.h"
#include "store/limits/conformance/limit_harness.h"

namespace penstock::store::conformance {

class SharedHarness {
 public:
  SharedHarness() = default;
  SharedHarness(const SharedHarness&) = delete;
  SharedHarness& operator=(const SharedHarness&) = delete;
  virtual ~SharedHarness() = default;

  // One more node on the same engine, which is reached at `port`; it lives as long as this.
  // Decisions have `deadline`.
  virtual Backend add_node(Millis deadline, int port) = 0;
  virtual int port() = 0;
  virtual void kill_engine() = 0;   // at once, as when its process is killed
  virtual void start_engine() = 0;  // with what it had on disk
};

struct SharedSubject {
  std::string name;
  std::function<std::unique_ptr<SharedHarness>()> fresh;

  friend std::ostream& operator<<(std::ostream& out, const SharedSubject& subject) {
    return out << subject.name;
  }
};

inline std::string shared_subject_name(const testing::TestParamInfo<SharedSubject>& info) {
  return info.param.name;
}

class SharedSuite : public testing::TestWithParam<SharedSubject> {
 protected:
  // Sanitizers and a busy machine make even small calls slow.
  static constexpr Millis kPatience = Seconds{20};

  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
  }

  SharedHarness& harness() { return *harness_; }
  Backend node(Millis deadline = kPatience) {
    return harness_->add_node(deadline, harness_->port());
  }

  static core::Limit quota(std::int64_t capacity) {
    return {.type = core::LimitType::fixed_window, .capacity = capacity, .window = Seconds{3'600}};
  }

  static Result<LimitAnswer> ask(LimitStore& limits, std::string_view key, const core::Limit& limit,
                                 std::optional<Instant> now = kLimitStart) {
    const LimitCheck check{.key = key, .limit = limit};
    core::LimitStatus status;
    const LimitRequest request{.checks = {&check, 1}, .cost = 1, .statuses = {&status, 1}};
    std::array<Result<LimitAnswer>, 1> answer{fail(ErrorKind::corrupt, "no answer")};
    limits.apply({&request, 1}, now, answer);
    return std::move(answer[0]);
  }
  // Tries again until it works; the store must come back by itself.
  static bool works_in_the_end(const Backend& backend) {
    const runtime::Stopwatch watch;
    while (watch.seconds() < 30) {
      if (ask(*backend.limits.store, "back", quota(1'000'000)) && backend.health->check())
        return true;
      std::this_thread::yield();
    }
    return false;
  }

 private:
  std::unique_ptr<SharedHarness> harness_;
};

class SharedUsageSuite : public SharedSuite {};
class SharedFaultSuite : public SharedSuite {};

}  // namespace penstock::store::conformance
