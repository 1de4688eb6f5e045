// For conformance tests: the embedded backend in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

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

inline std::unique_ptr<Harness> fresh_durable() { return std::make_unique<EmbeddedHarness>(false); }
inline std::unique_ptr<Harness> fresh_relaxed() { return std::make_unique<EmbeddedHarness>(true); }

inline const auto kDurable = testing::Values(Subject{"durable", fresh_durable});
// For thousands of steps: the same decisions without waiting for the disk.
inline const auto kRelaxed = testing::Values(Subject{"relaxed", fresh_relaxed});

}  // namespace penstock::store::conformance
