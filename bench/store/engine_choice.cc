// The measurement behind docs/decisions/0001: which engine carries one million random ids, then
// takes more of them in synced groups with a uniqueness look-up, or one synced write at a time?
//
// Both engines do the same: keys of 32 random characters, values of 46 bytes, 256 of them looked up
// and inserted in one durable step. SQLite runs as its makers advise for this: write-ahead log,
// full sync, one prepared `INSERT … ON CONFLICT DO NOTHING`, a table without rowid, 64 MiB of
// cache. RocksDB has the bloom filters and buffers that the store gives it. They take turns, so
// that both see the same disk; medians are printed.
//
// Usage: bench_engine_choice [FOLDER]    (on a real disk; default: the system's temporary folder)
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace penstock {
namespace {

constexpr std::size_t kPresent = 1'000'000;
constexpr std::size_t kGroup = 256;
constexpr int kRounds = 15;
constexpr int kGroupsPerRound = 20;
constexpr int kSinglesPerRound = 40;
constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
const std::string kValue(46, 'v');

[[noreturn]] void stop(std::string_view why) {
  fmt::print(stderr, "bench_engine_choice: {}\n", why);
  std::exit(1);
}

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  // Durable when it returns; stops the program when an id is known.
  virtual void insert(const std::vector<std::string>& ids) = 0;
};

class RocksEngine final : public Engine {
 public:
  explicit RocksEngine(const std::filesystem::path& dir) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.max_background_jobs = 2;
    options.write_buffer_size = std::size_t{16} << 20;
    options.max_write_buffer_number = 3;
    options.compression = rocksdb::kLZ4Compression;
    options.level_compaction_dynamic_level_bytes = true;
    options.allow_concurrent_memtable_write = false;
    options.enable_write_thread_adaptive_yield = false;
    options.memtable_whole_key_filtering = true;
    options.memtable_prefix_bloom_size_ratio = 0.02;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
    table.cache_index_and_filter_blocks = true;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    check(rocksdb::DB::Open(options, dir.string(), &db));
    db_.reset(db);
    write_.sync = true;
  }

  std::string name() const override {
    return fmt::format("RocksDB {}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  }

  void insert(const std::vector<std::string>& ids) override {
    const std::vector<rocksdb::Slice> keys(ids.begin(), ids.end());
    std::vector<rocksdb::PinnableSlice> found(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), keys.size(), keys.data(),
                  found.data(), statuses.data());
    rocksdb::WriteBatch batch;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!statuses[i].IsNotFound()) stop("known id");
      check(batch.Put(keys[i], kValue));
    }
    check(db_->Write(write_, &batch));
  }

 private:
  static void check(const rocksdb::Status& status) {
    if (!status.ok()) stop(status.ToString());
  }
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
};

class SqliteEngine final : public Engine {
 public:
  explicit SqliteEngine(const std::filesystem::path& dir) {
    std::filesystem::create_directories(dir);
    if (sqlite3_open((dir / "data.sqlite").c_str(), &db_) != SQLITE_OK) fail();
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    run("PRAGMA cache_size = -65536");
    run("CREATE TABLE event_slot (event TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
    prepare("BEGIN IMMEDIATE", &begin_);
    prepare("COMMIT", &commit_);
    prepare("INSERT INTO event_slot VALUES (?1, ?2) ON CONFLICT DO NOTHING", &insert_);
  }
  ~SqliteEngine() override {
    for (sqlite3_stmt* statement : {begin_, commit_, insert_}) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }

  std::string name() const override { return fmt::format("SQLite {}", sqlite3_libversion()); }

  void insert(const std::vector<std::string>& ids) override {
    step(begin_);
    for (const std::string& id : ids) {
      sqlite3_bind_text(insert_, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
      sqlite3_bind_blob(insert_, 2, kValue.data(), static_cast<int>(kValue.size()), SQLITE_STATIC);
      step(insert_);
      if (sqlite3_changes(db_) != 1) stop("known id");
    }
    step(commit_);
  }

 private:
  [[noreturn]] void fail() const { stop(sqlite3_errmsg(db_)); }
  void run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  void prepare(const char* sql, sqlite3_stmt** statement) {
    if (sqlite3_prepare_v2(db_, sql, -1, statement, nullptr) != SQLITE_OK) fail();
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail();
    sqlite3_reset(statement);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

std::vector<std::string> random_ids(Rng& rng, std::size_t count) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(fmt::format("{:016x}{:016x}", rng(), rng()));
  }
  return ids;
}

// Events a second over `calls` calls of `size` ids each.
double rate(Engine& engine, Rng& rng, std::size_t size, int calls) {
  std::chrono::duration<double> spent{0};
  for (int i = 0; i < calls; ++i) {
    const std::vector<std::string> ids = random_ids(rng, size);
    const auto begin = std::chrono::steady_clock::now();
    engine.insert(ids);
    spent += std::chrono::steady_clock::now() - begin;
  }
  return static_cast<double>(size) * calls / spent.count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct Figures {
  std::unique_ptr<Engine> engine;
  Rng rng;
  std::vector<double> grouped = {};
  std::vector<double> single = {};
};

void run(const std::filesystem::path& dir) {
  std::vector<Figures> all;
  all.push_back({std::make_unique<RocksEngine>(dir / "rocksdb"), Rng(1)});
  all.push_back({std::make_unique<SqliteEngine>(dir / "sqlite"), Rng(2)});
  for (Figures& figures : all) {
    const auto begin = std::chrono::steady_clock::now();
    // Larger groups, so that a slow disk does not make the preparation the longest part.
    for (std::size_t done = 0; done < kPresent; done += 10'000) {
      figures.engine->insert(random_ids(figures.rng, 10'000));
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    fmt::print("{}: {} ids loaded in {:.1f} s\n", figures.engine->name(), kPresent, spent.count());
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Figures& figures : all) {
      figures.grouped.push_back(rate(*figures.engine, figures.rng, kGroup, kGroupsPerRound));
      figures.single.push_back(rate(*figures.engine, figures.rng, 1, kSinglesPerRound));
    }
  }
  for (const Figures& figures : all) {
    fmt::print(
        "{}: {:.0f} events/s in synced groups of {}, {:.0f} events/s one synced write each\n",
        figures.engine->name(), median(figures.grouped), kGroup, median(figures.single));
  }
  fmt::print("ratio engine.rocksdb_vs_sqlite_grouped {:.2f} goal 1\n",
             median(all[0].grouped) / median(all[1].grouped));
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  const std::filesystem::path parent =
      argc > 1 ? std::filesystem::path(argv[1]) : std::filesystem::temp_directory_path();
  const std::filesystem::path dir = parent / fmt::format("penstock-engine-choice-{}", getpid());
  std::filesystem::create_directories(dir);
  penstock::run(dir);
  std::filesystem::remove_all(dir);
}
