// The suite of dispatch stores, run on its own model: what it demands can be met.
#include "store/queue/conformance/item_type_model.h"
#include "store/queue/conformance/queue_suite.h"

namespace penstock::store::conformance {
namespace {

class ModelHarness final : public Harness {
 public:
  Backend backend() override {
    Backend made;
    made.name = "model";
    made.queue.store = &model_;
    made.queue.leases = &model_;
    made.queue.types = &types_;
    return made;
  }
  Instant now() override { return clock_.now(); }
  void reopen() override {}

 private:
  SimulatedClock clock_{kNoon};
  QueueModel model_{clock_};
  ItemTypeModel types_;
};

const auto kSubjects =
    testing::Values(Subject{"model", [] { return std::make_unique<ModelHarness>(); }});
INSTANTIATE_TEST_SUITE_P(Model, QueueSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Model, QueueDifferentialSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Model, QueueConcurrencySuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Model, LeaseSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Model, ItemTypeSuite, kSubjects, name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(QueueSlotSuite);

}  // namespace
}  // namespace penstock::store::conformance
