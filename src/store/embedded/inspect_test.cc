// Looking at a folder from outside: nothing of it changes, and its owner does not notice.
#include "store/embedded/inspect.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

class Inspect : public testing::Test {
 protected:
  std::unique_ptr<EmbeddedStore> open() {
    auto store = EmbeddedStore::open({.dir = dir_}, clock_);
    EXPECT_TRUE(store) << store.error().what;
    return store ? std::move(*store) : nullptr;
  }
  FolderView look() {
    Result<FolderView> view = inspect_folder(dir_);
    EXPECT_TRUE(view) << view.error().what;
    return view ? std::move(*view) : FolderView{};
  }

  SimulatedClock clock_{from_epoch_millis(1'750'000'000'000)};
  TempFolder folder_;
  const std::filesystem::path dir_ = folder_.path() / "data";
};

TEST_F(Inspect, a_folder_that_is_not_there_is_not_made) {
  EXPECT_FALSE(look().exists);
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

TEST_F(Inspect, an_empty_folder_has_no_database) {
  std::filesystem::create_directories(dir_);
  const FolderView view = look();
  EXPECT_TRUE(view.exists);
  EXPECT_FALSE(view.has_database);
  EXPECT_FALSE(view.schema);
  EXPECT_TRUE(std::filesystem::is_empty(dir_));
}

TEST_F(Inspect, reads_beside_the_process_that_uses_it) {
  const auto store = open();
  ASSERT_NE(store, nullptr);
  core::ItemTypeSettings settings;
  settings.sink = {.kind = "http", .document = R"({"type":"http","url":"http://h/one"})"};
  ItemTypeStore& types = *store->backend().queue.types;
  ASSERT_TRUE(types.put(ItemType::trusted("PAYMENT"), 0, settings, std::nullopt));
  settings.sink.document = R"({"type":"http","url":"http://h/two"})";
  ASSERT_TRUE(types.put(ItemType::trusted("PAYMENT"), 1, settings, std::nullopt));
  ASSERT_TRUE(types.put(ItemType::trusted("REFUND"), 0, settings, std::nullopt));
  const FolderView view = look();
  EXPECT_EQ(view.holder, getpid());
  EXPECT_EQ(view.schema, kSchemaVersion);
  ASSERT_EQ(view.item_types.size(), 2U);
  EXPECT_EQ(view.item_types[0].version, 2);
  EXPECT_EQ(view.item_types[0].settings, settings);
  EXPECT_EQ(view.item_types[1].type.str(), "REFUND");
  // And it goes on writing.
  EXPECT_TRUE(types.put(ItemType::trusted("REFUND"), 1, settings, std::nullopt));
}

TEST_F(Inspect, a_folder_that_nobody_uses_can_be_opened_again) {
  open().reset();
  const FolderView view = look();
  EXPECT_FALSE(view.holder);
  EXPECT_EQ(view.schema, kSchemaVersion);
  EXPECT_NE(open(), nullptr);
}

TEST_F(Inspect, damaged_files_are_an_error) {
  open().reset();
  std::ofstream(dir_ / "CURRENT") << "MANIFEST-999999\n";
  EXPECT_FALSE(inspect_folder(dir_));
}

}  // namespace
}  // namespace penstock::store::embedded
