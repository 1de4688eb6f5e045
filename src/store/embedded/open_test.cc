// Opening: what is refused, in which words, and that nothing is harmed by it.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
#include "engine/rocksdb/engine_options.h"
#include "engine/rocksdb/folder.h"
#include "engine/rocksdb/records.h"
#include "engine/rocksdb/seal.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store.h"
#include "store/queue/embedded/queue_encoding.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

namespace fs = std::filesystem;

class Open : public testing::Test {
 protected:
  Result<std::unique_ptr<EmbeddedStore>> open() {
    return EmbeddedStore::open({.dir = dir_}, clock_);
  }

  // A store that must open, with some events in it when `events` is not zero.
  std::unique_ptr<EmbeddedStore> opened(int events = 0) {
    auto store = open();
    EXPECT_TRUE(store) << store.error().what;
    if (!store) return nullptr;
    if (events > 0) fill(**store, events);
    return std::move(*store);
  }

  static void fill(EmbeddedStore& store, int events) {
    const Backend backend = store.backend();
    EXPECT_TRUE(backend.slots.configs->put({.name = ConfigName::trusted("c"),
                                            .pool = PoolName::trusted("c"),
                                            .max_per_window = 10,
                                            .window_size = Seconds{1}},
                                           std::nullopt));
    for (int i = 0; i < events; ++i) {
      const std::vector<SlotRequest> requests = {request(i)};
      EXPECT_TRUE(backend.slots.store->assign(requests, std::nullopt)[0]);
    }
  }
  static SlotRequest request(int i) {
    return {.event = EventId::trusted("event-" + std::to_string(1'000 + i)),
            .config_name = ConfigName::trusted("c"),
            .requested = kStart,
            .max_delay = std::chrono::hours{1}};
  }
  static std::size_t rows(EmbeddedStore& store) {
    const auto all = store.backend().slots.store->scan(EventId{}, SIZE_MAX);
    EXPECT_TRUE(all) << all.error().what;
    return all ? all->size() : 0;
  }

  std::vector<fs::path> files(std::string_view extension) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    return found;
  }
  // The log that holds what was written last.
  fs::path log() const {
    for (const fs::path& file : files(".log")) {
      if (fs::file_size(file) > 0) return file;
    }
    return {};
  }
  static void flip(const fs::path& file, std::uintmax_t at) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const int byte = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(~byte));
  }

  // A raw look into the database, as a newer version or an accident would leave it.
  template <class Change>
  void change_raw(const Change& change) {
    auto engine = Engine::open({.dir = dir_, .cache_bytes = 1 << 20}, clock_);
    ASSERT_TRUE(engine) << engine.error().what;
    auto view = (*engine)->view();
    ASSERT_TRUE(view);
    change(*view);
  }

  void expect_refused(ErrorKind kind, std::string_view sentence) {
    const auto store = open();
    ASSERT_FALSE(store) << "opened";
    EXPECT_EQ(store.error().kind, kind) << store.error().what;
    EXPECT_NE(store.error().what.find(sentence), std::string::npos) << store.error().what;
    EXPECT_NE(store.error().what.find(dir_.string()), std::string::npos) << store.error().what;
  }

  TempFolder folder_;
  fs::path dir_ = folder_.path() / "deep" / "data";
  SimulatedClock clock_{kStart};
};

TEST_F(Open, makes_the_folder_and_finds_everything_again) {
  EXPECT_EQ(rows(*opened(25)), 25U);
  EXPECT_EQ(rows(*opened()), 25U);
}

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions(); }

TEST_F(Open, closes_a_folder_that_it_makes_or_finds_empty_to_others) {
  opened().reset();
  EXPECT_EQ(mode_of(dir_), fs::perms::owner_all);
  fs::remove_all(dir_);
  fs::create_directories(dir_);
  fs::permissions(dir_, fs::perms::all);
  opened().reset();
  EXPECT_EQ(mode_of(dir_), fs::perms::owner_all);
  EXPECT_FALSE(open_to_others(dir_));
}

TEST_F(Open, leaves_the_mode_of_a_folder_with_files_to_its_owner) {
  opened().reset();
  fs::permissions(dir_, fs::perms::group_read, fs::perm_options::add);
  opened().reset();
  const auto open = open_to_others(dir_);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->mode, 0740U);
  EXPECT_EQ(open->fix, "chmod -R go-rwx " + dir_.string());
}

TEST_F(Open, refuses_a_folder_that_this_process_has_open) {
  const auto first = opened(1);
  expect_refused(ErrorKind::unavailable, "is in use by this process already");
  EXPECT_EQ(rows(*first), 1U);
}

TEST_F(Open, lets_the_next_one_in_when_the_store_is_closed) {
  opened().reset();
  EXPECT_NE(opened(), nullptr);
}

TEST_F(Open, refuses_a_folder_that_another_process_has_open) {
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Result<FolderLock> lock = FolderLock::take(dir_);
    const char answer = lock ? 'y' : 'n';
    char byte = 0;
    if (write(ready[1], &answer, 1) == 1) byte = static_cast<char>(read(done[0], &byte, 1));
    _exit(byte);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  expect_refused(ErrorKind::unavailable, "is in use by process " + std::to_string(child));
  ASSERT_EQ(write(done[1], &answer, 1), 1);
  waitpid(child, nullptr, 0);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
  EXPECT_NE(opened(), nullptr);
}

TEST_F(Open, refuses_a_file_where_the_folder_should_be) {
  fs::create_directories(dir_.parent_path());
  std::ofstream(dir_) << "a file";
  expect_refused(ErrorKind::unavailable, "cannot make the folder");
}

TEST_F(Open, refuses_a_folder_it_may_not_write_to) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere; see SmallDisk for a read-only disk";
  fs::create_directories(dir_);
  fs::permissions(dir_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused(ErrorKind::unavailable, "Permission denied");
  fs::permissions(dir_, fs::perms::owner_all);
}

TEST_F(Open, refuses_a_newer_schema_and_leaves_it_alone) {
  opened(3).reset();
  change_raw([](const Engine::View& view) {
    ASSERT_TRUE(view.db()
                    .Put(rocksdb::WriteOptions(), view.family(Family::meta),
                         rocksdb::Slice(kSchemaKey.data(), kSchemaKey.size()),
                         encode_schema(kSchemaVersion + 1))
                    .ok());
  });
  for (int i = 0; i < 2; ++i) {
    expect_refused(ErrorKind::unavailable, "newer version of Penstock (schema " +
                                               std::to_string(kSchemaVersion + 1) +
                                               "; this version knows");
  }
}

TEST_F(Open, refuses_a_column_family_it_does_not_know) {
  opened(3).reset();
  change_raw([](const Engine::View& view) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(view.db().CreateColumnFamily({}, "from_the_future", &family).ok());
    ASSERT_TRUE(view.db().DestroyColumnFamilyHandle(family).ok());
  });
  expect_refused(ErrorKind::unavailable, "newer version of Penstock (it holds 'from_the_future'");
}

// The lock of the folder says that the former holder is dead; the clock may say otherwise.
TEST_F(Open, ends_every_lease_even_if_the_clock_was_set_back) {
  const ItemType type = ItemType::trusted("T");
  const Instant paused = kStart + std::chrono::hours{2};
  FencingToken before = 0;
  {
    const auto store = opened();
    clock_.set(kStart + std::chrono::hours{1});
    LeaseStore& leases = *store->backend().queue.leases;
    for (int i = 0; i < 2; ++i) {  // the second call renews, and leaves the pause
      const auto lease = leases.acquire(
          {.type = type, .node = "dead", .term = Seconds{3}, .paused_until = paused}, std::nullopt);
      ASSERT_TRUE(lease && *lease);
      before = (*lease)->token;
    }
  }
  clock_.set(kStart);
  const auto store = opened();
  LeaseStore& leases = *store->backend().queue.leases;
  EXPECT_EQ(leases.view(type, std::nullopt)->holder, std::nullopt);
  const auto lease =
      leases.acquire({.type = type, .node = "next", .term = Seconds{3}}, std::nullopt);
  ASSERT_TRUE(lease);
  ASSERT_TRUE(*lease) << "a dead holder keeps the lease";
  EXPECT_TRUE((*lease)->fresh);
  EXPECT_GT((*lease)->token, before);
  EXPECT_EQ((*lease)->paused_until, paused);
}

TEST_F(Open, refuses_data_without_a_schema) {
  opened(3).reset();
  change_raw([](const Engine::View& view) {
    ASSERT_TRUE(view.db()
                    .Delete(rocksdb::WriteOptions(), view.family(Family::meta),
                            rocksdb::Slice(kSchemaKey.data(), kSchemaKey.size()))
                    .ok());
  });
  expect_refused(ErrorKind::corrupt, "holds data but no schema version");
}

TEST_F(Open, refuses_a_damaged_list_of_files) {
  opened(3).reset();
  for (const auto& entry : fs::directory_iterator(dir_)) {
    if (entry.path().filename().string().starts_with("MANIFEST")) {
      flip(entry.path(), fs::file_size(entry.path()) / 2);
    }
  }
  expect_refused(ErrorKind::corrupt, "cannot open the database");
}

TEST_F(Open, refuses_data_whose_pointer_file_is_lost_instead_of_starting_anew) {
  opened(3).reset();
  const std::size_t before = files(".log").size() + files(".sst").size();
  const std::string current = [&] {
    std::ifstream file(dir_ / "CURRENT");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  fs::remove(dir_ / "CURRENT");
  expect_refused(ErrorKind::corrupt, "its file CURRENT is missing");
  EXPECT_EQ(files(".log").size() + files(".sst").size(), before);
  std::ofstream(dir_ / "CURRENT") << current;
  EXPECT_EQ(rows(*opened()), 3U);
}

TEST_F(Open, refuses_a_log_damaged_in_the_middle_instead_of_losing_its_end) {
  opened(50).reset();
  flip(log(), fs::file_size(log()) / 2);
  expect_refused(ErrorKind::corrupt, "cannot open the database");
}

TEST_F(Open, drops_a_last_record_that_was_cut_short_and_never_sealed) {
  opened().reset();
  fs::copy_file(dir_ / kSealName, folder_.path() / "seal");
  opened(50).reset();
  // As if the process had died within a second.
  fs::copy_file(folder_.path() / "seal", dir_ / kSealName, fs::copy_options::overwrite_existing);
  fs::resize_file(log(), fs::file_size(log()) - 3);
  EXPECT_EQ(rows(*opened()), 49U);
}

TEST_F(Open, tells_of_a_missing_table) {
  opened(50).reset();
  opened().reset();  // replays the log into tables
  ASSERT_FALSE(files(".sst").empty());
  for (const fs::path& file : files(".sst")) fs::remove(file);
  expect_refused(ErrorKind::corrupt, "cannot open the database");
}

TEST_F(Open, tells_of_a_damaged_table_when_it_is_read) {
  opened(50).reset();
  opened().reset();  // replays the log into tables
  ASSERT_FALSE(files(".sst").empty());
  for (const fs::path& file : files(".sst")) flip(file, 20);  // in the first data block
  const auto store = open();
  if (!store) {
    EXPECT_EQ(store.error().kind, ErrorKind::corrupt) << store.error().what;
    return;
  }
  const auto all = (*store)->backend().slots.store->scan(EventId{}, SIZE_MAX);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, ErrorKind::corrupt);
}

TEST_F(Open, fails_only_the_event_whose_record_is_damaged) {
  opened(5).reset();
  change_raw([](const Engine::View& view) {
    ASSERT_TRUE(view.db()
                    .Put(rocksdb::WriteOptions(), view.family(Family::event_slot),
                         request(2).event.str(), "nonsense")
                    .ok());
  });
  const auto store = opened();
  const std::vector<SlotRequest> requests = {request(1), request(2), request(77)};
  const auto answers = store->backend().slots.store->assign(requests, std::nullopt);
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(answers[2]);
  const std::vector<EventId> events = {request(2).event};
  const auto found = store->backend().slots.store->find(events);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(store->backend().health->check());
  EXPECT_EQ(store->backend().health->note(), "damage seen: " + answers[1].error().what);
}

TEST_F(Open, a_folder_without_damage_has_no_note) {
  EXPECT_EQ(opened(5)->backend().health->note(), "");
}

TEST_F(Open, refuses_damaged_configs_and_counters) {
  opened(5).reset();
  change_raw([](const Engine::View& view) {
    ASSERT_TRUE(view.db()
                    .Put(rocksdb::WriteOptions(), view.family(Family::slot_config),
                         config_key(ConfigName::trusted("d"), 1), "nonsense")
                    .ok());
  });
  expect_refused(ErrorKind::corrupt, "the config record");
}

}  // namespace
}  // namespace penstock::store::embedded
