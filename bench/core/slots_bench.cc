// What a placement costs, and what it costs behind 100,000 full windows. Ends with the ratios that
// `make bench` compares: limit / measured, so that higher is better and 1.00 just meets the goal.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "core/slots/placement.h"
#include "medians.h"

namespace {

using penstock::from_epoch_millis;
using penstock::Millis;
using penstock::Rng;
using penstock::core::FullRuns;
using penstock::core::PlacementQuery;
using penstock::core::WindowIndex;

constexpr std::int64_t kFullWindows = 100'000;  // the goal's "behind 100,000 full ones"
constexpr Millis kWindowSize{4'000};            // the predecessor's usual window
constexpr std::int64_t kMaxPerWindow = 100;
constexpr WindowIndex kFirstWindow = 440'000'000;  // a 4-second window of the year 2025
constexpr std::size_t kInputs = 4'096;             // drawn ahead: chance is not what we measure

// The counters of a pool, as a store keeps them: a hash map.
class Counters {
 public:
  std::int64_t operator()(WindowIndex window) const {
    const auto at = counts_.find(window);
    return at == counts_.end() ? 0 : at->second;
  }
  void charge(WindowIndex window) { ++counts_[window]; }
  void fill(WindowIndex window) { counts_[window] = kMaxPerWindow; }

 private:
  std::unordered_map<WindowIndex, std::int64_t> counts_;
};

std::vector<PlacementQuery> random_queries(WindowIndex windows, std::int64_t max_per_window) {
  Rng rng(1);
  std::vector<PlacementQuery> queries(kInputs);
  for (PlacementQuery& query : queries) {
    const std::int64_t start_ms = kFirstWindow * kWindowSize.count();
    const std::int64_t end_ms = start_ms + windows * kWindowSize.count();
    query = {.requested = from_epoch_millis(rng.between(start_ms, end_ms - 1)),
             .max_delay = std::chrono::days{30},
             .max_per_window = max_per_window,
             .window_size = kWindowSize,
             .entropy = rng()};
  }
  return queries;
}

// An event asks for any instant of a day whose windows never fill: find the place and count it.
void place_open(benchmark::State& state) {
  const auto queries = random_queries(std::chrono::days{1} / kWindowSize, 10'000'000);
  FullRuns full;
  Counters counters;
  std::size_t next = 0;
  for (auto _ : state) {
    const auto placement = place(queries[next++ % kInputs], full, counters);
    counters.charge(placement->window);
    benchmark::DoNotOptimize(placement);
  }
}

// A burst: every event asks for the same instant, so windows fill one after the other and each
// search steps over all that are full already.
void place_filling(benchmark::State& state) {
  const std::int64_t start_ms = kFirstWindow * kWindowSize.count();
  PlacementQuery query{.requested = from_epoch_millis(start_ms),
                       .max_delay = std::chrono::days{30},
                       .max_per_window = kMaxPerWindow,
                       .window_size = kWindowSize};
  FullRuns full;
  Counters counters;
  for (auto _ : state) {
    const auto placement = place(query, full, counters);
    if (!placement) {
      state.SkipWithError("the month is full");
      break;
    }
    counters.charge(placement->window);
  }
}

// 100,000 full windows, `stride` apart (1: one run, 2: as many runs as windows), and an event that
// asks for any instant among them. The counters are there too; nothing is charged, so that the
// state stays what the name says.
void place_behind_full(benchmark::State& state, std::int64_t stride) {
  const auto queries = random_queries(kFullWindows * stride, kMaxPerWindow);
  FullRuns full;
  Counters counters;
  for (WindowIndex i = 0; i < kFullWindows; ++i) {
    full.insert(kFirstWindow + i * stride);
    counters.fill(kFirstWindow + i * stride);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(place(queries[next++ % kInputs], full, counters));
  }
  state.counters["runs"] = static_cast<double>(full.runs());
}

// The same search right after the index was cleared (a raised and lowered maximum, a restart): the
// first event walks over all the windows and learns them; the time is that of one window.
void learn_full_window(benchmark::State& state) {
  Counters counters;
  for (WindowIndex i = 0; i < kFullWindows; ++i) counters.fill(kFirstWindow + i);
  const PlacementQuery query{.requested = from_epoch_millis(kFirstWindow * kWindowSize.count()),
                             .max_delay = std::chrono::days{30},
                             .max_per_window = kMaxPerWindow,
                             .window_size = kWindowSize};
  FullRuns full;
  while (state.KeepRunningBatch(kFullWindows)) {
    full.clear();
    benchmark::DoNotOptimize(place(query, full, counters));
  }
}

// A window far from all others fills up while the index is at its bound: every 50,000th forgets
// half of it, which is part of the time.
void insert_at_bound(benchmark::State& state) {
  Rng rng(2);
  FullRuns full;
  while (full.runs() < FullRuns::kRunsMax) full.insert(static_cast<WindowIndex>(rng() >> 8));
  for (auto _ : state) full.insert(static_cast<WindowIndex>(rng() >> 8));
  state.counters["runs"] = static_cast<double>(full.runs());
}

// A place is given back in a full window and taken again.
void erase_and_insert(benchmark::State& state) {
  Rng rng(3);
  FullRuns full;
  for (WindowIndex i = 0; i < kFullWindows; ++i) full.insert(2 * i);
  for (auto _ : state) {
    const WindowIndex window = 2 * static_cast<WindowIndex>(rng.below(kFullWindows));
    full.erase(window);
    full.insert(window);
  }
}

struct Goal {
  const char* benchmark;
  const char* ratio;
  double limit_ns;
};
constexpr Goal kGoals[] = {
    {"place_open", "core.place", 1'000},
    {"place_filling", "core.place_filling", 1'000},
    {"place_behind_full/one_run", "core.first_gap_one_run", 2'000},
    {"place_behind_full/many_runs", "core.first_gap_many_runs", 2'000},
};

BENCHMARK(place_open);
BENCHMARK(place_filling);
BENCHMARK_CAPTURE(place_behind_full, one_run, 1);
BENCHMARK_CAPTURE(place_behind_full, many_runs, 2);
BENCHMARK(learn_full_window);
BENCHMARK(insert_at_bound);
BENCHMARK(erase_and_insert);

}  // namespace

int main(int argc, char** argv) {
  penstock::bench::Medians reporter;
  if (!reporter.run(argc, argv, "0.1")) return 1;
  for (const Goal& goal : kGoals) {
    const double nanos = reporter.nanos(goal.benchmark);
    if (nanos > 0) std::printf("ratio %s %.2f goal 1.00\n", goal.ratio, goal.limit_ns / nanos);
  }
  return 0;
}
