// The embedded backend under the suite that every backend must pass.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "store/conformance/policy_suite.h"
#include "store/conformance/slot_suite.h"
#include "store/embedded/embedded_store.h"
#include "store/embedded/temp_folder.h"

namespace penstock::store::conformance {
namespace {

class EmbeddedHarness final : public Harness {
 public:
  explicit EmbeddedHarness(bool relaxed) : relaxed_(relaxed) { open(); }

  Backend backend() override { return store_->backend(); }
  Instant now() override { return clock_.now(); }
  void reopen() override {
    store_.reset();
    open();
  }

 private:
  void open() {
    auto store = embedded::EmbeddedStore::open(
        {.dir = folder_.path() / "data", .relaxed_durability = relaxed_}, clock_);
    ASSERT_TRUE(store) << store.error().what;
    store_ = std::move(*store);
  }

  const bool relaxed_;
  SimulatedClock clock_{kNoon};
  embedded::TempFolder folder_;
  std::unique_ptr<embedded::EmbeddedStore> store_;
};

std::unique_ptr<Harness> fresh_durable() { return std::make_unique<EmbeddedHarness>(false); }
std::unique_ptr<Harness> fresh_relaxed() { return std::make_unique<EmbeddedHarness>(true); }

const auto kDurable = testing::Values(Subject{"durable", fresh_durable});
// Thousands of batches: the same decisions without waiting for the disk.
const auto kRelaxed = testing::Values(Subject{"relaxed", fresh_relaxed});

INSTANTIATE_TEST_SUITE_P(Embedded, SlotSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, RetentionSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, ConcurrencySuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, DifferentialSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, PolicySuite, kDurable, name_of);

}  // namespace
}  // namespace penstock::store::conformance
