// A folder that lost what was acknowledged is refused, named, and left as it is.
#include "engine/rocksdb/seal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "engine/rocksdb/verify.h"
#include "store/embedded/store_parts.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

namespace fs = std::filesystem;

class SealTest : public testing::Test {
 protected:
  Result<std::unique_ptr<StoreParts>> open(bool relaxed = false) {
    return StoreParts::open({.dir = dir_, .relaxed_durability = relaxed, .cache_bytes = 1 << 20},
                            clock_);
  }
  std::unique_ptr<StoreParts> opened(bool relaxed = false) {
    auto store = open(relaxed);
    EXPECT_TRUE(store) << store.error().what;
    return store ? std::move(*store) : nullptr;
  }
  // Acknowledges `events` more of them.
  void fill(StoreParts& store, int events) {
    ASSERT_TRUE(store.configs.put({.name = ConfigName::trusted("c"),
                                   .pool = PoolName::trusted("c"),
                                   .max_per_window = 10,
                                   .window_size = Seconds{1}},
                                  std::nullopt));
    for (int i = 0; i < events; ++i) {
      const std::vector<SlotRequest> requests = {
          {.event = EventId::trusted("event-" + std::to_string(next_++)),
           .config_name = ConfigName::trusted("c"),
           .requested = kStart,
           .max_delay = std::chrono::hours{1}}};
      ASSERT_TRUE(store.slots.assign(requests, std::nullopt)[0]);
    }
  }
  std::size_t rows(StoreParts& store) {
    const auto all = store.slots.scan(EventId{}, SIZE_MAX);
    EXPECT_TRUE(all) << all.error().what;
    return all ? all->size() : 0;
  }
  Seal seal() {
    const auto seal = read_seal(dir_);
    EXPECT_TRUE(seal && *seal);
    return seal && *seal ? **seal : Seal{};
  }

  // The logs that hold something, oldest first.
  std::vector<fs::path> logs() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      if (entry.path().extension() == ".log" && entry.path().stem() != "rocksdb" &&
          entry.file_size() > 0) {
        found.push_back(entry.path());
      }
    }
    std::ranges::sort(found);
    return found;
  }
  // All files with their sizes.
  std::vector<std::pair<std::string, std::uintmax_t>> listing() const {
    std::vector<std::pair<std::string, std::uintmax_t>> found;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      found.emplace_back(entry.path().filename().string(), entry.file_size());
    }
    std::ranges::sort(found);
    return found;
  }
  // As a crash leaves it: the files of a store that is still open, in the folder of the next.
  void crash(std::unique_ptr<StoreParts> store) {
    const fs::path copy = folder_.path() / "copy";
    fs::copy(dir_, copy);
    store.reset();
    fs::remove_all(dir_);
    fs::rename(copy, dir_);
  }

  void expect_refused(std::string_view sentence) {
    const auto before = listing();
    for (int i = 0; i < 2; ++i) {
      const auto store = open();
      ASSERT_FALSE(store) << "opened";
      EXPECT_EQ(store.error().kind, ErrorKind::corrupt);
      EXPECT_NE(store.error().what.find(sentence), std::string::npos) << store.error().what;
      EXPECT_NE(store.error().what.find("`penstock verify " + dir_.string() + " --accept-loss`"),
                std::string::npos)
          << store.error().what;
    }
    EXPECT_EQ(listing(), before) << "a folder that is refused is left as it is";
    const Result<Verdict> verdict = verify();
    ASSERT_TRUE(verdict) << verdict.error().what;
    ASSERT_TRUE(verdict->loss);
    EXPECT_EQ(*verdict->loss, open().error().what);
  }
  Result<Verdict> verify() {
    return verify_folder(dir_, [](const VerifyProgress&) { return true; });
  }
  void expect_good() {
    const Result<Verdict> verdict = verify();
    ASSERT_TRUE(verdict) << verdict.error().what;
    EXPECT_TRUE(verdict->good()) << verdict->loss.value_or("")
                                 << (verdict->damaged.empty() ? "" : verdict->damaged[0]);
    EXPECT_TRUE(verdict->complete());
  }

  TempFolder folder_;
  const fs::path dir_ = folder_.path() / "data";
  SimulatedClock clock_{kStart};
  int next_ = 0;
};

TEST_F(SealTest, a_clean_stop_can_be_opened_again_and_again) {
  for (int i = 0; i < 4; ++i) {
    auto store = opened();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(rows(*store), 8U * static_cast<std::size_t>(i));
    fill(*store, 8);
    store.reset();
    expect_good();
  }
}

TEST_F(SealTest, a_crash_right_after_a_seal_or_long_before_the_next_is_no_loss) {
  auto store = opened();
  fill(*store, 5);
  crash(std::move(store));  // sealed when it was opened, or at most since
  expect_good();
  store = opened();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(rows(*store), 5U);
  fill(*store, 5);
  ASSERT_TRUE(store->engine->seal());
  crash(std::move(store));
  expect_good();
  EXPECT_EQ(rows(*opened()), 10U);
}

TEST_F(SealTest, a_lost_newest_log_is_refused_until_it_is_back) {
  auto store = opened();
  fill(*store, 16);
  ASSERT_TRUE(store->engine->seal());
  crash(std::move(store));
  const fs::path log = logs().back();
  fs::rename(log, folder_.path() / "lost");
  expect_refused(log.filename().string() + ", which is missing");
  fs::rename(folder_.path() / "lost", log);
  EXPECT_EQ(rows(*opened()), 16U);
}

TEST_F(SealTest, a_newest_log_that_was_cut_is_refused) {
  auto store = opened();
  fill(*store, 16);
  store.reset();
  const fs::path log = logs().back();
  fs::resize_file(log, fs::file_size(log) / 2);
  expect_refused(log.filename().string() + ", which is cut short");
}

TEST_F(SealTest, a_lost_or_cut_closed_log_is_refused) {
  auto store = opened();
  fill(*store, 8);
  // Some families stay in the log that this closes.
  ASSERT_TRUE(store->engine->view()
                  ->db()
                  .Flush(rocksdb::FlushOptions(), store->engine->view()->family(Family::event_slot))
                  .ok());
  fill(*store, 8);
  store.reset();
  ASSERT_EQ(logs().size(), 2U);
  const fs::path log = logs().front();
  fs::copy_file(log, folder_.path() / "whole");
  fs::resize_file(log, fs::file_size(log) - 5);
  expect_refused(log.filename().string() + " is missing or cut short");
  fs::remove(log);
  expect_refused(log.filename().string() + " is missing or cut short");
  fs::rename(folder_.path() / "whole", log);
  EXPECT_EQ(rows(*opened()), 16U);
}

TEST_F(SealTest, a_lost_damaged_or_foreign_seal_is_refused) {
  auto store = opened();
  fill(*store, 5);
  store.reset();
  const Seal good = seal();
  fs::remove(dir_ / kSealName);
  expect_refused("has lost its file SEAL");
  std::ofstream(dir_ / kSealName) << "penstock seal 1\nepoch 1\n";
  expect_refused("has a damaged file SEAL");
  ASSERT_TRUE(write_seal(dir_, {good.epoch + 1, good.sequence, good.log}));
  expect_refused("does not belong to its database");
  ASSERT_TRUE(write_seal(dir_, good));
  EXPECT_EQ(rows(*opened()), 5U);
}

TEST_F(SealTest, a_new_folder_that_lost_seal_and_log_is_refused) {
  auto store = opened();
  fill(*store, 5);
  store.reset();
  fs::remove(dir_ / kSealName);
  fs::remove(logs().back());
  expect_refused("has lost its file SEAL");
}

TEST_F(SealTest, a_seal_without_a_database_is_refused) {
  opened().reset();
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().filename() != kSealName) fs::remove(entry.path());
  }
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().what.find("CURRENT is missing"), std::string::npos);
}

TEST_F(SealTest, a_crash_while_the_first_seal_is_made_is_no_loss) {
  opened().reset();
  ASSERT_TRUE(write_seal(dir_, {.epoch = 7}));
  auto store = opened();
  ASSERT_NE(store, nullptr);
  EXPECT_GT(seal().sequence, 0U);
  store.reset();
  expect_good();
}

TEST_F(SealTest, a_folder_of_a_version_that_did_not_seal_is_taken) {
  auto store = opened();
  fill(*store, 5);
  {
    const auto view = store->engine->view();
    ASSERT_TRUE(view->db()
                    .Delete(rocksdb::WriteOptions(), view->family(Family::meta),
                            rocksdb::Slice(kEpochKey.data(), kEpochKey.size()))
                    .ok());
  }
  crash(std::move(store));
  fs::remove(dir_ / kSealName);
  EXPECT_EQ(rows(*opened()), 5U);
  expect_good();
  EXPECT_GT(seal().sequence, 0U);
}

// Records that come and go between two flushes are in no table, and with them the last number.
TEST_F(SealTest, numbers_that_no_table_holds_are_no_loss) {
  auto store = opened();
  fill(*store, 5);
  rocksdb::WriteBatch batch;
  {
    const auto view = store->engine->view();
    ASSERT_TRUE(batch.Put(view->family(Family::slot_term), "came", "").ok());
    ASSERT_TRUE(batch.SingleDelete(view->family(Family::slot_term), "came").ok());
  }
  ASSERT_TRUE(store->engine->commit(batch));
  ASSERT_TRUE(store->engine->seal());
  const Seal before = seal();
  store.reset();
  opened().reset();  // into tables
  opened().reset();
  EXPECT_LT(seal().sequence, before.sequence) << "this test proves nothing unless numbers go back";
  // A crash after the tables were written and before the new seal.
  ASSERT_TRUE(write_seal(dir_, before));
  EXPECT_NE(opened(), nullptr);
}

TEST_F(SealTest, relaxed_durability_is_sealed_when_the_store_is_closed) {
  auto store = opened(/*relaxed=*/true);
  const Seal before = seal();
  fill(*store, 8);
  ASSERT_TRUE(store->engine->seal());
  EXPECT_EQ(seal(), before) << "what is not on disk must not be sealed";
  store.reset();
  EXPECT_GT(seal().sequence, before.sequence);
  fs::remove(logs().back());
  expect_refused("which is missing");
}

TEST_F(SealTest, an_accepted_loss_goes_on_with_what_is_left) {
  opened().reset();
  auto store = opened();
  fill(*store, 16);
  store.reset();
  const fs::path log = logs().back();
  fs::resize_file(log, fs::file_size(log) / 2);
  const Result<void> accepted = accept_loss(dir_, clock_);
  ASSERT_TRUE(accepted) << accepted.error().what;
  expect_good();
  store = opened();
  ASSERT_NE(store, nullptr);
  EXPECT_GT(rows(*store), 0U);
  EXPECT_LT(rows(*store), 16U);
  fill(*store, 5);
  store.reset();
  EXPECT_NE(opened(), nullptr);
}

TEST_F(SealTest, an_accepted_loss_covers_closed_logs_damage_and_the_seal_itself) {
  auto store = opened();
  fill(*store, 8);
  ASSERT_TRUE(store->engine->view()
                  ->db()
                  .Flush(rocksdb::FlushOptions(), store->engine->view()->family(Family::event_slot))
                  .ok());
  fill(*store, 8);
  store.reset();
  fs::remove(logs().front());
  fs::remove(dir_ / kSealName);
  Result<void> accepted = accept_loss(dir_, clock_);
  ASSERT_TRUE(accepted) << accepted.error().what;
  expect_good();
  store = opened();
  ASSERT_NE(store, nullptr);
  fill(*store, 8);
  store.reset();
  const fs::path log = logs().back();
  {
    std::fstream bytes(log, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(fs::file_size(log) / 2));
    bytes.put('\x5a');
  }
  std::ofstream(dir_ / kSealName) << "nonsense";
  accepted = accept_loss(dir_, clock_);
  ASSERT_TRUE(accepted) << accepted.error().what;
  expect_good();
}

TEST_F(SealTest, verify_names_a_damaged_table) {
  auto store = opened();
  fill(*store, 16);
  store.reset();
  opened().reset();  // replays the log into tables
  std::string damaged;
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().extension() != ".sst") continue;
    damaged = entry.path().string();
    std::fstream bytes(damaged, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(20);
    const int byte = bytes.get();
    bytes.seekp(20);
    bytes.put(static_cast<char>(~byte));
    break;
  }
  const Result<Verdict> verdict = verify();
  ASSERT_TRUE(verdict) << verdict.error().what;
  EXPECT_FALSE(verdict->good());
  ASSERT_EQ(verdict->damaged.size(), 1U);
  EXPECT_TRUE(verdict->damaged[0].starts_with(damaged)) << verdict->damaged[0];
}

TEST_F(SealTest, a_seal_that_cannot_be_read_is_no_loss_to_accept) {
  opened().reset();
  fs::remove(dir_ / kSealName);
  fs::create_directory(dir_ / kSealName);
  EXPECT_EQ(open().error().kind, ErrorKind::unavailable);
  EXPECT_EQ(verify().error().kind, ErrorKind::unavailable);
}

TEST_F(SealTest, a_log_damaged_in_the_middle_is_refused_with_a_way_out) {
  auto store = opened();
  fill(*store, 16);
  store.reset();
  const fs::path log = logs().back();
  {
    std::fstream bytes(log, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(fs::file_size(log) / 2));
    bytes.put('\x5a');
  }
  expect_refused("cannot open the database");
}

TEST_F(SealTest, verify_reads_only_a_folder_that_is_there_and_free) {
  EXPECT_EQ(verify().error().kind, ErrorKind::not_found);
  const auto store = opened();
  const Result<Verdict> used = verify();
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().kind, ErrorKind::unavailable);
}

TEST(SealFile, reads_what_it_wrote_and_refuses_the_rest) {
  const Seal seal{.epoch = UINT64_MAX, .sequence = 42, .log = 7};
  const std::string text = encode_seal(seal);
  EXPECT_EQ(decode_seal(text), seal);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode_seal(text.substr(0, i))) << i;
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(decode_seal(flipped)) << i;
  }
  EXPECT_FALSE(decode_seal(text + "x"));
}

}  // namespace
}  // namespace penstock::store::embedded
