// A full disk and a disk that turns read-only, on real file systems of a few megabytes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/testing/private_mounts.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store.h"

namespace penstock::store::embedded {
namespace {

class MountsEnvironment final : public testing::Environment {
 public:
  void SetUp() override { PrivateMounts::instance(); }
};
const testing::Environment* const kMounts =
    testing::AddGlobalTestEnvironment(new MountsEnvironment);

class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    PrivateMounts& mounts = PrivateMounts::instance();
    if (!mounts.problem().empty()) GTEST_SKIP() << mounts.problem();
    disk_ = folder_.path() / "disk";
    ASSERT_TRUE(mounts.mount_memory(disk_, "48m"));
    open();
  }
  void TearDown() override {
    store_.reset();
    PrivateMounts::instance().unmount(disk_);
  }

  void open() {
    auto store = EmbeddedStore::open({.dir = disk_ / "data"}, clock_);
    ASSERT_TRUE(store) << store.error().what;
    store_ = std::move(*store);
    const auto change = store_->backend().slots.configs->put({.name = ConfigName::trusted("c"),
                                                              .pool = PoolName::trusted("c"),
                                                              .max_per_window = 1'000,
                                                              .window_size = Seconds{1}},
                                                             std::nullopt);
    ASSERT_TRUE(change) << change.error().what;
  }

  SlotStore& slots() { return *store_->backend().slots.store; }
  StoreHealth& health() { return *store_->backend().health; }

  // The first error, or nothing. What is acknowledged is noted.
  std::optional<Error> assign(int count) {
    std::vector<SlotRequest> requests;
    for (int i = 0; i < count; ++i) {
      requests.push_back({.event = EventId::trusted("event-" + std::to_string(next_++)),
                          .config_name = ConfigName::trusted("c"),
                          .requested = kStart,
                          .max_delay = std::chrono::days{1}});
    }
    std::optional<Error> error;
    for (const auto& answer : slots().assign(requests, std::nullopt)) {
      if (answer) {
        acknowledged_.emplace(answer->slot.event, answer->slot);
      } else {
        error = answer.error();
      }
    }
    return error;
  }

  void expect_all_acknowledged_and_counted() {
    const auto rows = slots().scan(EventId{}, SIZE_MAX);
    ASSERT_TRUE(rows) << rows.error().what;
    std::map<EventId, Slot> kept;
    std::map<Instant, std::int64_t> counted;
    for (const Slot& slot : *rows) {
      kept.emplace(slot.event, slot);
      ++counted[slot.window_start];
    }
    for (const auto& [event, slot] : acknowledged_) ASSERT_EQ(kept[event], slot);
    const auto uses = slots().windows({.pool = PoolName::trusted("c"),
                                       .window_size = Seconds{1},
                                       .from = kInstantMin,
                                       .to = kInstantEnd,
                                       .limit = SIZE_MAX});
    ASSERT_TRUE(uses);
    std::map<Instant, std::int64_t> counters;
    for (const WindowUse& use : *uses) counters[use.start] = use.used;
    EXPECT_EQ(counters, counted);
  }

  TempFolder folder_;
  std::filesystem::path disk_;
  SimulatedClock clock_{kStart};
  std::unique_ptr<EmbeddedStore> store_;
  std::map<EventId, Slot> acknowledged_;
  int next_ = 0;
};

TEST_F(SmallDisk, full_is_told_and_over_without_a_restart) {
  ASSERT_FALSE(assign(1'000));
  const std::filesystem::path ballast = disk_ / "ballast";
  {
    std::ofstream file(ballast, std::ios::binary);
    const std::string block(1 << 16, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  // The log has some room set aside; then it is over.
  std::optional<Error> error;
  for (int batch = 0; batch < 400 && !error; ++batch) error = assign(1'000);
  ASSERT_TRUE(error) << "the disk never got full";
  EXPECT_EQ(error->kind, ErrorKind::unavailable);
  EXPECT_NE(error->what.find("no space left on the disk"), std::string::npos) << error->what;

  clock_.advance(Seconds{2});
  const Result<void> bad = health().check();
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().what.find("no space left on the disk"), std::string::npos)
      << bad.error().what;
  EXPECT_TRUE(assign(10));
  expect_all_acknowledged_and_counted();  // reads go on

  std::filesystem::remove(ballast);
  clock_.advance(Seconds{2});
  const Result<void> good = health().check();
  EXPECT_TRUE(good) << good.error().what;
  EXPECT_FALSE(assign(1'000));
  expect_all_acknowledged_and_counted();
  store_.reset();
  open();
  expect_all_acknowledged_and_counted();
}

TEST_F(SmallDisk, opening_on_a_full_one_is_refused_and_loses_nothing) {
  ASSERT_FALSE(assign(5'000));
  store_.reset();
  const std::filesystem::path ballast = disk_ / "ballast";
  {
    std::ofstream file(ballast, std::ios::binary);
    const std::string block(1 << 16, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  const auto refused = EmbeddedStore::open({.dir = disk_ / "data"}, clock_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_NE(refused.error().what.find("no space left on the disk"), std::string::npos)
      << refused.error().what;
  std::filesystem::remove(ballast);
  open();
  expect_all_acknowledged_and_counted();
}

TEST_F(SmallDisk, opening_on_a_read_only_one_is_refused) {
  ASSERT_FALSE(assign(100));
  store_.reset();
  ASSERT_TRUE(PrivateMounts::instance().set_read_only(disk_, true));
  const auto refused = EmbeddedStore::open({.dir = disk_ / "data"}, clock_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_NE(refused.error().what.find("Read-only file system"), std::string::npos)
      << refused.error().what;
  ASSERT_TRUE(PrivateMounts::instance().set_read_only(disk_, false));
  open();
  expect_all_acknowledged_and_counted();
}

}  // namespace
}  // namespace penstock::store::embedded
