// What a decision of the installed library costs: one hot key with the clock read included, looked
// for and bound, a million keys one by one and in batches of 16, two threads on different keys;
// next to two usual designs. Ends with ratios, higher is better. Times are of the processor, not of
// the wall, so that other work on the machine moves them less.
#include <benchmark/benchmark.h>
#include <penstock/limiter.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "medians.h"
#include "peers.h"
#include "runtime/clocks.h"

namespace {

using penstock::Limiter;
using penstock::Rng;

constexpr std::size_t kKeys = 1'000'000;
constexpr std::size_t kBatch = 16;
// A thousand tokens a second and a burst that lasts: every decision admits.
constexpr double kRate = 1'000;
constexpr double kBurst = 1e9;

Limiter make_limiter() {
  return *Limiter::make({.default_policy = {.capacity = 1'000'000'000,
                                            .refill = penstock::refill_per_second("1000")}});
}

std::string key_of(std::size_t i) {
  std::string key = "tenant:4711|user:" + std::to_string(i);
  key.resize(32, '.');
  return key;
}

// A million keys, used once each, and an order to ask for them that no cache foresees. The keys lie
// in one block in the order of asking, as they would in the buffers of a server.
struct Million {
  Million() : limiter(make_limiter()), text(kKeys * 32, '\0') {
    std::vector<std::uint32_t> order(kKeys);
    for (std::size_t i = 0; i < kKeys; ++i) order[i] = static_cast<std::uint32_t>(i);
    Rng rng(1);
    for (std::size_t i = kKeys; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    for (std::size_t i = 0; i < kKeys; ++i) key_of(order[i]).copy(text.data() + 32 * i, 32);
    for (std::size_t i = 0; i < kKeys; ++i) PENSTOCK_CHECK(limiter.check(key_of(i)));
  }
  std::string_view key(std::size_t i) const { return {text.data() + 32 * (i % kKeys), 32}; }

  Limiter limiter;
  std::string text;
};

Million& million() {
  static Million instance;
  return instance;
}

void hot_key(benchmark::State& state) {
  Limiter limiter = make_limiter();
  const std::string key = key_of(1);
  for (auto _ : state) PENSTOCK_CHECK(limiter.check(key));
}

void bound_key(benchmark::State& state) {
  Limiter limiter = make_limiter();
  penstock::BoundKey key = *limiter.bind(key_of(1));
  for (auto _ : state) PENSTOCK_CHECK(key.check());
}

// As a service might have them: the key is found by one of a hundred patterns, next to exact ones.
void hot_key_patterns(benchmark::State& state) {
  Limiter limiter = make_limiter();
  penstock::Policy policy = limiter.policy_for("any");
  for (int i = 0; i < 100; ++i) {
    policy.key = "tenant:" + std::to_string(4'700 + i) + "|*";
    PENSTOCK_CHECK(limiter.set_policy(policy));
    policy.key = "route:/" + std::to_string(i);
    PENSTOCK_CHECK(limiter.set_policy(policy));
  }
  const std::string key = key_of(1);
  for (auto _ : state) PENSTOCK_CHECK(limiter.check(key));
}

void clock_read(benchmark::State& state) {
  const penstock::runtime::SteadyWallClock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.now());
}

template <class Bucket>
void hot_bare(benchmark::State& state) {
  Bucket bucket;
  for (auto _ : state) PENSTOCK_CHECK(bucket.take(1, kRate, kBurst));
}

template <class Bucket>
void hot_told(benchmark::State& state) {
  Bucket bucket;
  penstock::bench::Told told;
  for (auto _ : state) {
    PENSTOCK_CHECK(bucket.take(1, kRate, kBurst, &told));
    benchmark::DoNotOptimize(told);
  }
}

template <class Bucket>
void hot_keyed(benchmark::State& state) {
  penstock::bench::KeyedPeer<Bucket> peer;
  const std::string key = key_of(1);
  peer.add(key);
  for (auto _ : state) PENSTOCK_CHECK(peer.take(key, 1, kRate, kBurst));
}

template <class Bucket>
void hot_growing(benchmark::State& state) {
  penstock::bench::GrowingPeer<Bucket> peer;
  const std::string key = key_of(1);
  penstock::bench::Told told;
  for (auto _ : state) {
    PENSTOCK_CHECK(peer.take(key, 1, kRate, kBurst, told));
    benchmark::DoNotOptimize(told);
  }
}

template <class Bucket>
void million_peer(benchmark::State& state) {
  static penstock::bench::KeyedPeer<Bucket>* const peer = [] {
    auto* const filled = new penstock::bench::KeyedPeer<Bucket>;
    for (std::size_t i = 0; i < kKeys; ++i) filled->add(key_of(i));
    return filled;
  }();
  std::size_t next = 0;
  for (auto _ : state) PENSTOCK_CHECK(peer->take(million().key(next++), 1, kRate, kBurst));
}

void million_keys(benchmark::State& state) {
  Million& world = million();
  // Threads begin apart and stay apart: different keys.
  std::size_t next = kKeys / 2 * static_cast<std::size_t>(state.thread_index());
  for (auto _ : state) PENSTOCK_CHECK(world.limiter.check(world.key(next++)));
  state.SetItemsProcessed(state.iterations());
}

void million_batches(benchmark::State& state) {
  Million& world = million();
  std::array<penstock::Check, kBatch> checks;
  std::array<penstock::Decision, kBatch> decisions;
  std::size_t next = 0;
  while (state.KeepRunningBatch(kBatch)) {
    for (penstock::Check& check : checks) check.key = world.key(next++);
    world.limiter.check_batch(checks, decisions);
    PENSTOCK_CHECK(decisions[0].allowed);
  }
}

BENCHMARK(clock_read);
BENCHMARK(hot_key);
BENCHMARK(bound_key);
BENCHMARK(hot_key_patterns)->Name("patterns_hot_key");
BENCHMARK(hot_bare<penstock::bench::MutexBucket>)->Name("hot_mutex_bare");
BENCHMARK(hot_bare<penstock::bench::AtomicBucket>)->Name("hot_atomic_bare");
BENCHMARK(hot_told<penstock::bench::MutexBucket>)->Name("told_mutex_bare");
BENCHMARK(hot_told<penstock::bench::AtomicBucket>)->Name("told_atomic_bare");
BENCHMARK(hot_keyed<penstock::bench::MutexBucket>)->Name("hot_mutex_keyed");
BENCHMARK(hot_keyed<penstock::bench::AtomicBucket>)->Name("hot_atomic_keyed");
BENCHMARK(hot_growing<penstock::bench::MutexBucket>)->Name("hot_mutex_growing");
BENCHMARK(hot_growing<penstock::bench::AtomicBucket>)->Name("hot_atomic_growing");
BENCHMARK(million_keys)->Name("million_one")->Threads(1)->UseRealTime();
BENCHMARK(million_keys)->Name("million_two")->Threads(2)->UseRealTime();
BENCHMARK(million_batches);
BENCHMARK(million_peer<penstock::bench::MutexBucket>)->Name("million_mutex");
BENCHMARK(million_peer<penstock::bench::AtomicBucket>)->Name("million_atomic");

void print_ratio(const char* name, double dividend, double divisor, double goal) {
  if (dividend > 0 && divisor > 0) {
    std::printf("ratio limits.%s %.2f goal %.2f\n", name, dividend / divisor, goal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  penstock::bench::Medians reporter;
  if (!reporter.run(argc, argv, "0.2")) return 1;
  const double hot = reporter.nanos("hot_key");
  const double one = reporter.nanos("million_one");
  print_ratio("hot_key", 40, hot, 1);
  print_ratio("hot_key_to_mutex", reporter.nanos("hot_mutex_keyed"), hot, 1);
  print_ratio("hot_key_to_atomic", reporter.nanos("hot_atomic_keyed"), hot, 1);
  print_ratio("hot_key_to_growing_mutex", reporter.nanos("hot_mutex_growing"), hot, 1);
  print_ratio("hot_key_to_growing_atomic", reporter.nanos("hot_atomic_growing"), hot, 1);
  // A bound key is what a bucket without a map is: one that the caller holds.
  const double bound = reporter.nanos("bound_key");
  print_ratio("bound_key_to_mutex", reporter.nanos("told_mutex_bare"), bound, 1);
  print_ratio("bound_key_to_atomic", reporter.nanos("told_atomic_bare"), bound, 1);
  print_ratio("million_keys", 450, one, 1);
  print_ratio("million_keys_to_mutex", reporter.nanos("million_mutex"), one, 1);
  print_ratio("million_keys_to_atomic", reporter.nanos("million_atomic"), one, 1);
  print_ratio("million_batches", 90, reporter.nanos("million_batches"), 1);
  print_ratio("two_threads", reporter.rate("million_two"), reporter.rate("million_one"), 1.6);
  return 0;
}
