// What SlotStore::assign costs over RocksDB itself. Four contestants take turns, group by group, on
// the same disk with the same RocksDB options, keys and value sizes. Forty turns are a round, which
// gives one figure each; a ratio is the median of the rounds' ratios. So a slow moment of the disk
// hits all, while everyone pays for its own flushes and compactions. One round's ratio scatters by
// 0.15; all but `loaded` begin anew after 25 rounds, so that there can be enough of them while
// `fresh` stays fresh.
//
//   bare    groups of 256: look all keys up (sorted, MultiGet), put the new ones, one synced write
//   single  one event at a time: look up, put, one synced write each
//   fresh   SlotStore::assign in batches of 256, on a store that was empty at the start
//   loaded  the same on a store with 1,000,000 events and 10,000 full windows in front of the
//   search
//
// Usage: bench_store [FOLDER]    (on a real disk; default: the system's folder for temporary files)
//        bench_store --limits [FOLDER]    only bare and single, a few seconds: what other
//        benchmarks of
//                                         the same run are measured against
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "engine/rocksdb/engine_options.h"
#include "runtime/clocks.h"
#include "store/embedded/store.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kGroup = 256;
constexpr int kSingles = 2;  // in a turn
constexpr int kTurns = 40;   // in a round
constexpr int kRounds = 25;  // in a series
constexpr int kSeries = 4;   // the median of 100 rounds is good to about 0.02
constexpr std::size_t kLoadedEvents = 1'000'000;
constexpr std::int64_t kMaxPerWindow = 100;  // so that the loaded store has 10,000 full windows
constexpr Instant kRequested = from_epoch_millis(1'750'000'000'000);

using Seconds64 = std::chrono::duration<double>;

[[noreturn]] void stop(std::string_view why) {
  fmt::print(stderr, "bench_store: {}\n", why);
  std::exit(1);
}

// 32 random characters: no two alike, no order.
std::string random_event(Rng& rng) { return fmt::format("{:016x}{:016x}", rng(), rng()); }

template <class Work>
Seconds64 timed(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - begin;
}

// A record as the store writes it.
std::string sample_value() {
  std::string value;
  encode_slot({.event = {},
               .config_name = ConfigName::trusted("default"),
               .config_version = 1,
               .requested = kRequested,
               .window_start = kRequested,
               .scheduled = kRequested,
               .created = kRequested},
              value);
  return value;
}

// RocksDB as the store opens it, driven by hand.
class Bare {
 public:
  Bare(const std::filesystem::path& dir, std::uint64_t seed) : rng_(seed) {
    rocksdb::DBOptions options = make_db_options(nullptr);
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    const auto cache = make_block_cache(EmbeddedOptions{}.cache_bytes);
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (std::size_t i = 0; i < kFamilies; ++i) {
      const auto family = static_cast<Family>(i);
      families.emplace_back(family_name(family), make_family_options(family, cache));
    }
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status =
        rocksdb::DB::Open(options, dir.string(), families, &handles_, &db);
    if (!status.ok()) stop(status.ToString());
    db_.reset(db);
    write_.sync = true;
  }
  ~Bare() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }

  Seconds64 group() {
    std::vector<std::string> events;
    for (std::size_t i = 0; i < kGroup; ++i) events.push_back(random_event(rng_));
    return timed([&] {
      keys_.assign(events.begin(), events.end());
      std::ranges::sort(keys_, [](const auto& a, const auto& b) { return a.compare(b) < 0; });
      std::vector<rocksdb::PinnableSlice> found(kGroup);
      std::vector<rocksdb::Status> statuses(kGroup);
      db_->MultiGet(rocksdb::ReadOptions(), slots(), kGroup, keys_.data(), found.data(),
                    statuses.data(), /*sorted_input=*/true);
      rocksdb::WriteBatch batch;
      for (std::size_t i = 0; i < kGroup; ++i) {
        if (statuses[i].IsNotFound()) check(batch.Put(slots(), keys_[i], value_));
      }
      check(db_->Write(write_, &batch));
    });
  }

  Seconds64 single() {
    const std::string event = random_event(rng_);
    return timed([&] {
      std::string found;
      if (!db_->Get(rocksdb::ReadOptions(), slots(), event, &found).IsNotFound()) stop("known id");
      check(db_->Put(write_, slots(), event, value_));
    });
  }

 private:
  rocksdb::ColumnFamilyHandle* slots() const {
    return handles_[static_cast<std::size_t>(Family::event_slot)];
  }
  static void check(const rocksdb::Status& status) {
    if (!status.ok()) stop(status.ToString());
  }

  Rng rng_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::Slice> keys_;
  const std::string value_ = sample_value();
  rocksdb::WriteOptions write_;
};

class Assigning {
 public:
  Assigning(const std::filesystem::path& dir, const Clock& clock, std::uint64_t seed) : rng_(seed) {
    auto store = EmbeddedStore::open({.dir = dir}, clock);
    if (!store) stop(store.error().what);
    store_ = std::move(*store);
    const auto change =
        store_->backend().slots.configs->put({.name = ConfigName::trusted("default"),
                                              .pool = PoolName::trusted("default"),
                                              .max_per_window = kMaxPerWindow,
                                              .window_size = Seconds{1}},
                                             std::nullopt);
    if (!change) stop(change.error().what);
    config_ = std::make_shared<const core::SlotConfig>(change->current);
  }

  Seconds64 batch(std::size_t size = kGroup) {
    std::vector<SlotRequest> requests;
    for (std::size_t i = 0; i < size; ++i) {
      requests.push_back({.event = EventId::trusted(random_event(rng_)),
                          .config_name = config_->name,
                          .requested = kRequested,
                          .max_delay = std::chrono::days{1},
                          .entropy = rng_()});
    }
    return timed([&] {
      for (const auto& answer : store_->backend().slots.store->assign(requests, std::nullopt)) {
        if (!answer || !answer->fresh) stop(answer ? "known id" : answer.error().what);
      }
    });
  }

  void load(std::size_t events) {
    for (std::size_t done = 0; done < events;) {
      const std::size_t size = std::min<std::size_t>(events - done, 4'096);
      batch(size);
      done += size;
    }
  }

  std::size_t full_windows() const {
    const auto uses = store_->backend().slots.store->windows({.pool = config_->pool,
                                                              .window_size = config_->window_size,
                                                              .from = kInstantMin,
                                                              .to = kInstantEnd,
                                                              .limit = SIZE_MAX});
    if (!uses) stop(uses.error().what);
    return static_cast<std::size_t>(std::ranges::count(*uses, kMaxPerWindow, &WindowUse::used));
  }

 private:
  Rng rng_;
  std::unique_ptr<EmbeddedStore> store_;
  std::shared_ptr<const core::SlotConfig> config_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct Contestant {
  std::string name;
  double events;  // in a turn
  std::function<Seconds64()> turn = {};
  Seconds64 spent{0};              // in this round
  std::vector<double> rates = {};  // events a second, by round
};

double median_ratio(const Contestant& ours, const Contestant& theirs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.rates.size(); ++i) {
    ratios.push_back(ours.rates[i] / theirs.rates[i]);
  }
  return median(std::move(ratios));
}

// Adds kRounds figures to each of `all`: bare, fresh, loaded, single.
void run_series(const std::filesystem::path& dir, const Clock& clock, Assigning& loaded,
                std::vector<Contestant>& all) {
  Bare bare(dir / "bare", 2);
  Bare single(dir / "single", 3);
  Assigning fresh(dir / "fresh", clock, 4);
  all[0].turn = [&] { return bare.group(); };
  all[1].turn = [&] { return fresh.batch(); };
  all[2].turn = [&] { return loaded.batch(); };
  all[3].turn = [&] {
    Seconds64 spent{0};
    for (int i = 0; i < kSingles; ++i) spent += single.single();
    return spent;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        // Nobody always follows the same neighbour.
        Contestant& next = all[turn % 2 == 0 ? i : all.size() - 1 - i];
        next.spent += next.turn();
      }
    }
    for (Contestant& contestant : all) {
      contestant.rates.push_back(contestant.events * kTurns / contestant.spent.count());
      contestant.spent = Seconds64{0};
    }
  }
}

void run(const std::filesystem::path& dir) {
  const runtime::SystemClock clock;
  Assigning loaded(dir / "loaded", clock, 1);
  const double load_seconds = timed([&] { loaded.load(kLoadedEvents); }).count();
  fmt::print("RocksDB {}.{}.{}, {} cores, groups of {}, keys of 32 and values of {} bytes\n",
             ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH, std::thread::hardware_concurrency(),
             kGroup, sample_value().size());
  fmt::print("loaded: {} events in {:.1f} s, {} full windows\n", kLoadedEvents, load_seconds,
             loaded.full_windows());
  std::this_thread::sleep_for(std::chrono::seconds{3});  // what the loading left to compact

  std::vector<Contestant> all = {
      {"bare", kGroup}, {"fresh", kGroup}, {"loaded", kGroup}, {"single", kSingles}};
  for (int series = 0; series < kSeries; ++series) {
    const std::filesystem::path here = dir / fmt::format("series{}", series);
    std::filesystem::create_directories(here);
    run_series(here, clock, loaded, all);
    std::filesystem::remove_all(here);
  }
  for (const Contestant& contestant : all) {
    fmt::print("{:7} median {:>8.0f} events/s (from {:.0f} to {:.0f} in {} rounds)\n",
               contestant.name, median(contestant.rates), std::ranges::min(contestant.rates),
               std::ranges::max(contestant.rates), contestant.rates.size());
  }
  fmt::print("ratio store.assign_vs_bare_loop {:.2f} goal 0.80\n", median_ratio(all[1], all[0]));
  fmt::print("ratio store.assign_vs_single_sync {:.1f} goal 12\n", median_ratio(all[1], all[3]));
  fmt::print("ratio store.after_1m_vs_fresh {:.2f} goal 0.90\n", median_ratio(all[2], all[1]));
}

void run_limits(const std::filesystem::path& dir) {
  constexpr int kLimitTurns = 400;  // about 3 seconds
  Bare bare(dir / "bare", 2);
  Bare single(dir / "single", 3);
  Seconds64 bare_spent{0};
  Seconds64 single_spent{0};
  for (int turn = 0; turn < kLimitTurns; ++turn) {
    bare_spent += bare.group();
    single_spent += single.single();
  }
  fmt::print("bare {:.0f}\nsingle {:.0f}\n", kGroup * kLimitTurns / bare_spent.count(),
             kLimitTurns / single_spent.count());
}

}  // namespace
}  // namespace penstock::store::embedded

int main(int argc, char** argv) {
  const bool limits = argc > 1 && std::string_view(argv[1]) == "--limits";
  const int folder = limits ? 2 : 1;
  const std::filesystem::path parent =
      argc > folder ? std::filesystem::path(argv[folder]) : std::filesystem::temp_directory_path();
  const std::filesystem::path dir = parent / fmt::format("penstock-bench-store-{}", getpid());
  std::filesystem::create_directories(dir);
  if (limits) {
    penstock::store::embedded::run_limits(dir);
  } else {
    penstock::store::embedded::run(dir);
  }
  std::filesystem::remove_all(dir);
}
