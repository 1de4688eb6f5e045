// What a backend hands to the conformance suite. In `<backend>_conformance.cc`:
//
//   #include "store/slots/conformance/slot_suite.h"
//   const auto kSubjects = testing::Values(Subject{"postgres", fresh});
//   INSTANTIATE_TEST_SUITE_P(Postgres, SlotSuite, kSubjects, name_of);
//   INSTANTIATE_TEST_SUITE_P(Postgres, ConcurrencySuite, kSubjects, name_of);
//   INSTANTIATE_TEST_SUITE_P(Postgres, DifferentialSuite, kSubjects, name_of);
//
// `fresh` makes a Harness and starts what the backend needs; null fails the test.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot_config.h"
#include "store/backend.h"

namespace penstock::store::conformance {

// One backend under test, empty when it is made; what it holds goes with it.
class Harness {
 public:
  Harness() = default;
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  virtual ~Harness() = default;

  virtual Backend backend() = 0;  // valid until reopen()
  virtual Instant now() = 0;      // what the store's own clock says
  virtual void reopen() = 0;      // as when the process ends and starts again
};

struct Subject {
  std::string name;
  std::function<std::unique_ptr<Harness>()> fresh;

  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) {
    return out << subject.name;
  }
};

inline std::string name_of(const testing::TestParamInfo<Subject>& info) { return info.param.name; }

inline EventId event(std::string text) { return EventId::trusted(std::move(text)); }
inline ConfigName config_name(std::string text) { return ConfigName::trusted(std::move(text)); }
inline PoolName pool_name(std::string text) { return PoolName::trusted(std::move(text)); }

// A round instant that is the start of a window of any size used here but a day.
inline constexpr Instant kNoon = from_epoch_millis(1'750'000'000'000 / 3'600'000 * 3'600'000);

struct DraftOptions {
  std::string name = "default";
  std::string pool = {};  // empty = the name
  std::int64_t max = 10;
  Millis size = Seconds{4};
};

struct Ask {
  std::string event;
  std::string config = "default";
  Instant at = kNoon;
  Millis max_delay = std::chrono::days{1};
  std::uint64_t entropy = 0;
};

class SlotSuite : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(slots_port(), nullptr);
    ASSERT_NE(configs_port(), nullptr);
  }

  Harness& harness() { return *harness_; }
  SlotStore* slots_port() { return harness_->backend().slots.store; }
  SlotConfigStore* configs_port() { return harness_->backend().slots.configs; }
  SlotStore& slots() { return *slots_port(); }
  SlotConfigStore& configs() { return *configs_port(); }

  static SlotRequest request(const Ask& ask) {
    return {.event = event(ask.event),
            .config_name = config_name(ask.config),
            .requested = ask.at,
            .max_delay = ask.max_delay,
            .entropy = ask.entropy};
  }

  static core::SlotConfigDraft draft(const DraftOptions& options) {
    return {.name = config_name(options.name),
            .pool = options.pool.empty() ? pool_name(options.name) : pool_name(options.pool),
            .max_per_window = options.max,
            .window_size = options.size};
  }

  // A config that must be accepted.
  core::SlotConfig given(const DraftOptions& options, Instant now = kNoon) {
    Result<SlotConfigChange> change = configs().put(draft(options), now);
    EXPECT_TRUE(change) << change.error().what;
    return change ? change->current : core::SlotConfig{};
  }

  std::vector<Result<Assignment>> assign(const std::vector<Ask>& asks, Instant now = kNoon) {
    std::vector<SlotRequest> requests;
    for (const Ask& ask : asks) requests.push_back(request(ask));
    std::vector<Result<Assignment>> answers = slots().assign(requests, now);
    EXPECT_EQ(answers.size(), asks.size());
    answers.resize(asks.size(), fail(ErrorKind::corrupt, "no answer"));
    return answers;
  }
  Result<Assignment> assign(const Ask& ask, Instant now = kNoon) {
    return std::move(assign(std::vector{ask}, now).front());
  }

  // An assignment that must succeed.
  Assignment assigned(const Ask& ask, Instant now = kNoon) {
    Result<Assignment> answer = assign(ask, now);
    EXPECT_TRUE(answer) << ask.event << ": " << answer.error().what;
    return answer ? *answer : Assignment{};
  }

  ErrorKind refused(const Ask& ask, Instant now = kNoon) {
    const Result<Assignment> answer = assign(ask, now);
    EXPECT_FALSE(answer) << ask.event << " got a slot";
    if (answer) return ErrorKind::invalid;
    EXPECT_FALSE(answer.error().what.empty());
    return answer.error().kind;
  }

  std::vector<WindowUse> windows(const std::string& pool, Millis size = Seconds{4},
                                 Instant from = kInstantMin, Instant to = kInstantEnd,
                                 std::size_t limit = SIZE_MAX) {
    Result<std::vector<WindowUse>> uses = slots().windows(
        {.pool = pool_name(pool), .window_size = size, .from = from, .to = to, .limit = limit});
    EXPECT_TRUE(uses) << uses.error().what;
    return uses ? *uses : std::vector<WindowUse>{};
  }

  std::int64_t used(const std::string& pool, Millis size = Seconds{4}) {
    std::int64_t sum = 0;
    for (const WindowUse& use : windows(pool, size)) sum += use.used;
    return sum;
  }

  // Everything, in pages, as an export reads it.
  std::vector<Slot> all_slots(std::size_t page = 1'000) {
    std::vector<Slot> all;
    EventId after;
    for (;;) {
      Result<std::vector<Slot>> slots_page = slots().scan(after, page);
      EXPECT_TRUE(slots_page) << slots_page.error().what;
      if (!slots_page || slots_page->empty()) return all;
      after = slots_page->back().event;
      std::move(slots_page->begin(), slots_page->end(), std::back_inserter(all));
    }
  }

 private:
  std::unique_ptr<Harness> harness_;
};

}  // namespace penstock::store::conformance
