// The suite of dispatch stores, run on its own model: what it demands can be met.
#include "store/conformance/queue_suite.h"

namespace penstock::store::conformance {
namespace {

class ModelTypes final : public ItemTypeStore {
 public:
  Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                             const core::ItemTypeSettings& settings,
                             std::optional<Instant> now) override {
    std::vector<ItemTypeRecord>& versions = records_[type];
    if (static_cast<std::int64_t>(versions.size()) != expected) {
      return fail(ErrorKind::conflict, "changed meanwhile");
    }
    versions.push_back({type, expected + 1, settings, now.value_or(Instant{})});
    ++revision_;
    return versions.back();
  }
  Result<std::optional<ItemTypeRecord>> find(const ItemType& type) override {
    const auto found = records_.find(type);
    if (found == records_.end()) return std::nullopt;
    return found->second.back();
  }
  Result<std::vector<ItemTypeRecord>> list() override {
    std::vector<ItemTypeRecord> all;
    for (const auto& [type, versions] : records_) all.push_back(versions.back());
    return all;
  }
  Result<std::vector<ItemTypeRecord>> history(const ItemType& type, std::size_t limit) override {
    std::vector<ItemTypeRecord> newest(records_[type].rbegin(), records_[type].rend());
    newest.resize(std::min(limit, newest.size()));
    return newest;
  }
  Result<std::uint64_t> revision() override { return revision_; }

 private:
  std::map<ItemType, std::vector<ItemTypeRecord>> records_;
  std::uint64_t revision_ = 0;
};

class ModelHarness final : public Harness {
 public:
  Backend backend() override {
    Backend made;
    made.name = "model";
    made.queue = &model_;
    made.leases = &model_;
    made.item_types = &types_;
    return made;
  }
  Instant now() override { return clock_.now(); }
  void reopen() override {}

 private:
  SimulatedClock clock_{kNoon};
  QueueModel model_{clock_};
  ModelTypes types_;
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
