// The memory backend under the suite that every backend must pass.
#include <gtest/gtest.h>

#include <memory>

#include "store/limits/conformance/limit_suite.h"
#include "store/limits/memory/memory_limits.h"

namespace penstock::store::conformance {
namespace {

class MemoryHarness final : public LimitHarness {
 public:
  explicit MemoryHarness(const memory::MemoryOptions& options) : limits_(options, clock_) {}
  LimitStore& limits() override { return limits_; }

 private:
  SimulatedClock clock_{kLimitStart};
  memory::MemoryLimits limits_;
};

std::unique_ptr<LimitHarness> fresh() {
  return std::make_unique<MemoryHarness>(memory::MemoryOptions{});
}
// All keys in one stripe, whose changes are remembered.
std::unique_ptr<LimitHarness> fresh_small() {
  return std::make_unique<MemoryHarness>(
      memory::MemoryOptions{.max_keys = 1'000, .track_changes = true, .hash_seed = 1});
}

const auto kSubjects =
    testing::Values(LimitSubject{"usual", fresh}, LimitSubject{"small", fresh_small});

INSTANTIATE_TEST_SUITE_P(Memory, LimitSuite, kSubjects, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Memory, LimitConcurrencySuite, kSubjects, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Memory, LimitDifferentialSuite, kSubjects, limit_subject_name);

}  // namespace
}  // namespace penstock::store::conformance
