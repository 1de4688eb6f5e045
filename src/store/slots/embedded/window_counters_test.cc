#include "store/slots/embedded/window_counters.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace penstock::store::embedded {
namespace {

using core::WindowIndex;

constexpr Millis kSize = Seconds{1};

// Counters as the database would hold them; counts the reads.
class FakeSource final : public WindowSource {
 public:
  Result<void> each(const PoolName& pool, Millis size, WindowIndex begin, WindowIndex end,
                    const Visit& visit) override {
    ++reads;
    if (broken) return fail(ErrorKind::corrupt, "broken");
    for (auto at = rows.lower_bound({pool, size, begin});
         at != rows.end() && at->first < std::tuple{pool, size, end}; ++at) {
      if (!visit(std::get<2>(at->first), at->second)) break;
    }
    return {};
  }

  void fill(const std::string& pool, WindowIndex begin, WindowIndex end, std::uint32_t used) {
    for (WindowIndex at = begin; at < end; ++at) rows[{PoolName::trusted(pool), kSize, at}] = used;
  }

  std::map<std::tuple<PoolName, Millis, WindowIndex>, std::uint32_t> rows;
  int reads = 0;
  bool broken = false;
};

core::PlacementQuery query(WindowIndex window, std::int64_t max, WindowIndex depth = 1'000'000) {
  return {.requested = core::window_start(window, kSize),
          .max_delay = kSize * depth,
          .max_per_window = max,
          .window_size = kSize};
}

core::SlotConfig config(const std::string& pool, std::int64_t max) {
  return {.name = ConfigName::trusted(pool),
          .pool = PoolName::trusted(pool),
          .max_per_window = max,
          .window_size = kSize,
          .version = 1,
          .active = true};
}

WindowIndex take(WindowCounters& counters, FakeSource& source, WindowIndex window, std::int64_t max,
                 const std::string& pool = "p") {
  const auto placed = counters.take(PoolName::trusted(pool), query(window, max), source);
  EXPECT_TRUE(placed && *placed);
  return placed && *placed ? (*placed)->window : -1;
}

// What the writer does after a durable batch.
void commit(WindowCounters& counters, FakeSource& source) {
  counters.each_changed([&](const PoolName& pool, Millis size, WindowIndex window,
                            std::uint32_t used) { source.rows[{pool, size, window}] = used; });
  counters.committed();
}

TEST(WindowCounters, steps_over_cold_full_windows_a_chunk_at_a_time) {
  FakeSource source;
  source.fill("p", 1'000, 11'000, 5);
  WindowCounters counters;
  EXPECT_EQ(take(counters, source, 1'000, 5), 11'000);
  EXPECT_LE(source.reads, 10'000 / 64 + 2);
  const int reads = source.reads;
  EXPECT_EQ(take(counters, source, 2'000, 5), 11'000);
  EXPECT_EQ(source.reads, reads);  // known by now
  EXPECT_EQ(counters.runs(), 1U);
}

TEST(WindowCounters, shows_the_counts_that_the_charges_made) {
  FakeSource source;
  source.fill("p", 10, 11, 3);
  WindowCounters counters;
  EXPECT_EQ(take(counters, source, 10, 5), 10);
  EXPECT_EQ(take(counters, source, 10, 5), 10);
  EXPECT_EQ(take(counters, source, 10, 5), 11);
  std::map<WindowIndex, std::uint32_t> changed;
  counters.each_changed(
      [&](const PoolName& pool, Millis size, WindowIndex window, std::uint32_t used) {
        EXPECT_EQ(pool.str(), "p");
        EXPECT_EQ(size, kSize);
        changed[window] = used;
      });
  EXPECT_EQ(changed, (std::map<WindowIndex, std::uint32_t>{{10, 5}, {11, 1}}));
  counters.committed();
  counters.each_changed([](const auto&...) { FAIL() << "committed and still changed"; });
}

TEST(WindowCounters, forget_charges_that_were_dropped) {
  FakeSource source;
  WindowCounters counters;
  EXPECT_EQ(take(counters, source, 10, 1), 10);
  EXPECT_EQ(take(counters, source, 10, 1), 11);
  counters.drop();
  EXPECT_EQ(take(counters, source, 10, 1), 10);
}

TEST(WindowCounters, find_the_place_that_was_given_back) {
  FakeSource source;
  source.fill("p", 0, 200, 5);
  const PoolName pool = PoolName::trusted("p");
  WindowCounters counters;
  EXPECT_EQ(take(counters, source, 0, 5), 200);
  EXPECT_EQ(take(counters, source, 0, 4), 200);
  commit(counters, source);
  ASSERT_TRUE(counters.give_back(pool, kSize, 70, source));
  EXPECT_EQ(counters.runs(), 3U) << "two runs of five, one of four";
  EXPECT_EQ(take(counters, source, 0, 4), 200) << "four are still there";
  counters.drop();
  EXPECT_EQ(take(counters, source, 0, 5), 200) << "it was not committed";
  ASSERT_TRUE(counters.give_back(pool, kSize, 70, source));
  commit(counters, source);
  EXPECT_EQ((source.rows[{pool, kSize, 70}]), 4U);
  EXPECT_EQ(take(counters, source, 0, 5), 70);
  EXPECT_EQ(take(counters, source, 0, 5), 200);
}

TEST(WindowCounters, give_nothing_back_of_an_empty_window) {
  FakeSource source;
  WindowCounters counters;
  const Result<void> given = counters.give_back(PoolName::trusted("p"), kSize, 70, source);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().kind, ErrorKind::corrupt);
  counters.each_changed([](const auto&...) { FAIL() << "changed"; });
}

TEST(WindowCounters, keep_what_is_full_apart_for_each_maximum) {
  FakeSource source;
  source.fill("p", 0, 100, 5);
  WindowCounters counters;
  EXPECT_EQ(take(counters, source, 0, 5), 100);
  EXPECT_EQ(take(counters, source, 0, 6), 0);
  EXPECT_EQ(take(counters, source, 0, 5), 100);
  EXPECT_EQ(take(counters, source, 0, 4), 100);
}

TEST(WindowCounters, give_nothing_beyond_the_depth) {
  FakeSource source;
  source.fill("p", 0, 100, 5);
  WindowCounters counters;
  const auto none = counters.take(PoolName::trusted("p"), query(0, 5, 99), source);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  const auto last = counters.take(PoolName::trusted("p"), query(0, 5, 100), source);
  ASSERT_TRUE(last && *last);
  EXPECT_EQ((*last)->window, 100);
}

TEST(WindowCounters, pass_a_read_failure_on_and_charge_nothing) {
  FakeSource source;
  source.broken = true;
  WindowCounters counters;
  const auto failed = counters.take(PoolName::trusted("p"), query(0, 5), source);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::corrupt);
  counters.each_changed([](const auto&...) { FAIL() << "charged"; });
  EXPECT_EQ(counters.chunks(), 0U);
  source.broken = false;
  source.fill("p", 0, 1, 5);
  EXPECT_EQ(take(counters, source, 0, 5), 1);
}

TEST(WindowCounters, stay_within_their_limits_and_right) {
  FakeSource source;
  WindowCounters counters({.chunks_max = 4, .pools_max = 3, .runs_max = 8, .maxima_max = 2});
  std::map<std::pair<std::string, WindowIndex>, int> expected;
  for (int round = 0; round < 3; ++round) {
    for (int pool = 0; pool < 6; ++pool) {
      for (WindowIndex chunk = 0; chunk < 10; ++chunk) {
        const std::string name = "p" + std::to_string(pool);
        const WindowIndex window = chunk * 64;
        EXPECT_EQ(take(counters, source, window, 10 + round, name), window);
        ++expected[{name, window}];
        commit(counters, source);
        EXPECT_LE(counters.chunks(), 4U);
        EXPECT_LE(counters.pools(), 3U);
        EXPECT_LE(counters.runs(), 8U);
      }
    }
  }
  for (const auto& [key, used] : expected) {
    EXPECT_EQ((source.rows[{PoolName::trusted(key.first), kSize, key.second}]),
              static_cast<std::uint32_t>(used));
  }
}

TEST(WindowCounters, stay_within_their_limits_during_one_search) {
  FakeSource source;
  source.fill("p", 0, 100 * WindowCounters::kChunkWindows, 5);
  WindowCounters counters({.chunks_max = 4});
  EXPECT_EQ(take(counters, source, 0, 5), 100 * WindowCounters::kChunkWindows);
  EXPECT_LE(counters.chunks(), 4U);
}

TEST(WindowCounters, bound_the_full_runs_over_all_pools) {
  FakeSource source;
  WindowCounters counters({.chunks_max = 64, .pools_max = 64, .runs_max = 40, .maxima_max = 4});
  for (int pool = 0; pool < 10; ++pool) {
    // Every second window full: each is a run of its own.
    const std::string name = "p" + std::to_string(pool);
    for (WindowIndex at = 0; at < 64; at += 2) source.fill(name, at, at + 1, 1);
    for (WindowIndex at = 0; at < 20; at += 2)
      EXPECT_EQ(take(counters, source, at, 1, name), at + 1);
    commit(counters, source);
    EXPECT_LE(counters.runs(), 40U);
  }
}

TEST(WindowCounters, keep_charged_chunks_until_they_are_committed) {
  FakeSource source;
  WindowCounters counters({.chunks_max = 2, .pools_max = 8, .runs_max = 100, .maxima_max = 2});
  for (WindowIndex chunk = 0; chunk < 20; ++chunk) take(counters, source, chunk * 64, 10);
  int changed = 0;
  counters.each_changed([&](const auto&...) { ++changed; });
  EXPECT_EQ(changed, 20);
  commit(counters, source);
  EXPECT_LE(counters.chunks(), 2U);
}

TEST(WindowCounters, warm_reads_from_an_instant_on_and_learns_what_is_full) {
  FakeSource source;
  source.fill("p", 0, 1'000, 5);
  source.fill("p", 1'000, 1'010, 2);
  WindowCounters counters;
  const auto read = counters.warm(config("p", 5), core::window_start(500, kSize), 10'000, source);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, 1'010U - 448U);  // from the start of the chunk of window 500
  EXPECT_EQ(counters.runs(), 1U);
  const int reads = source.reads;
  EXPECT_EQ(take(counters, source, 500, 5), 1'000);
  EXPECT_EQ(source.reads, reads);
}

TEST(WindowCounters, warm_stops_at_its_limit_with_whole_chunks_only) {
  FakeSource source;
  source.fill("p", 0, 1'000, 5);
  WindowCounters counters;
  const auto read = counters.warm(config("p", 5), kInstantMin, 100, source);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, 128U);
  EXPECT_EQ(counters.chunks(), 2U);
  EXPECT_EQ(take(counters, source, 0, 5), 1'000);
}

}  // namespace
}  // namespace penstock::store::embedded
