// For tests: the whole store on a disk that fails when it is told to, and can lose its power.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <memory>
#include <utility>

#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/testing/faulty_file_system.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store_parts.h"

namespace penstock::store::embedded {

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    auto parts = StoreParts::open(
        {.dir = folder_.path() / "data", .cache_bytes = 1 << 20, .env = env_.get()}, clock_);
    ASSERT_TRUE(parts) << parts.error().what;
    parts_ = std::move(*parts);
  }
  void cut_power_and_restart() {
    disk_->set(Fault::dead);
    parts_.reset();
    disk_->lose_power();
    disk_->set(Fault::none);
    open();
  }
  void heal() {
    disk_->set(Fault::none);
    clock_.advance(Seconds{2});
    ASSERT_TRUE(parts_->health.check());
  }

  TempFolder folder_;
  SimulatedClock clock_{kStart};
  std::shared_ptr<FaultyFileSystem> disk_ = std::make_shared<FaultyFileSystem>();
  std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(disk_);
  std::unique_ptr<StoreParts> parts_;
};

}  // namespace penstock::store::embedded
