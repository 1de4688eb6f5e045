// What it costs to choose the policy of a key, by kinds of policies: the hot case of a service, and
// cases in which neither caches nor branch prediction know what comes; and what a change of one
// policy costs. Ends with ratios, higher is better. Times are of the processor, not of the wall.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "core/policy/policy_set.h"
#include "medians.h"

namespace {

using penstock::Rng;
using penstock::core::Policy;
using penstock::core::PolicySet;

constexpr std::size_t kKeys = 4'096;  // drawn ahead: chance is not what we measure

using Strings = std::vector<std::string>;

PolicySet set_of(const Strings& keys) {
  std::vector<Policy> policies;
  for (const std::string& key : keys) policies.push_back({.draft = {.key = key}});
  return PolicySet(std::move(policies), {.draft = {.key = "default"}});
}

std::string padded(std::string key) {
  key.resize(std::max<std::size_t>(key.size(), 32), '.');
  return key;
}

Strings prefixes() {
  Strings out;
  for (int i = 0; i < 100; ++i) out.push_back("tenant:" + std::to_string(4'700 + i) + "|*");
  return out;
}

Strings exact_routes() {
  Strings out;
  for (int i = 0; i < 100; ++i) out.push_back("route:/" + std::to_string(i));
  return out;
}

Strings suffixes() {
  Strings out;
  for (int i = 0; i < 100; ++i) out.push_back("*|route:/v1/" + std::to_string(i));
  return out;
}

// Literals on both sides of two stars, which have to be looked for at every byte.
Strings middles() {
  Strings out;
  for (int i = 0; i < 100; ++i) out.push_back("tenant:*|role:" + std::to_string(i) + "|*");
  return out;
}

// As in the unit test: ten thousand of four kinds.
Strings mixed() {
  Strings out;
  for (int i = 0; i < 2'500; ++i) {
    const std::string n = std::to_string(i);
    out.insert(out.end(),
               {"tenant:" + n + "|*", "*|route:/v1/" + n, "*x" + n + "y*", "t" + n + ":*:end" + n});
  }
  return out;
}

Strings exact_users() {
  Strings out;
  for (int i = 0; i < 10'000; ++i) out.push_back("user:" + std::to_string(100'000 + i));
  return out;
}

Strings operator+(Strings left, const Strings& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// One key, again and again. Each look-up waits for the policy before it, as a decision waits for
// its policy: the identifiers are all 0.
void hot(benchmark::State& state, const Strings& policies, const std::string& key) {
  const PolicySet set = set_of(policies);
  std::int64_t zero = 0;
  for (auto _ : state) {
    zero = set.match({key.data() + zero, key.size()}).id;
    benchmark::DoNotOptimize(zero);
  }
}

// Keys by chance: `make` gets a number below `bound`.
template <class Make>
void random_keys(benchmark::State& state, const Strings& policies, std::size_t bound, Make make) {
  const PolicySet set = set_of(policies);
  Rng rng(1);
  Strings keys;
  for (std::size_t i = 0; i < kKeys; ++i) keys.push_back(make(std::to_string(rng.below(bound))));
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(&set.match(keys[next++ % kKeys]));
}

void match_hot(benchmark::State& state) {
  hot(state, prefixes() + exact_routes(), padded("tenant:4711|user:1"));
}
void match_prefixes(benchmark::State& state) {
  hot(state, prefixes(), padded("tenant:4711|user:1"));
}
void match_suffixes(benchmark::State& state) {
  hot(state, suffixes(), "tenant:4711|user:1|route:/v1/42");
}
void match_both_ends(benchmark::State& state) {
  hot(state, prefixes() + suffixes(), "tenant:4|user:1|route:/v1/42");
}
void match_middles(benchmark::State& state) {
  hot(state, middles(), "tenant:4711|role:42|route:/v1/42");
}
void match_exact(benchmark::State& state) { hot(state, prefixes() + exact_routes(), "route:/42"); }
void match_none(benchmark::State& state) {
  hot(state, prefixes() + exact_routes(), padded("user:4711|tenant:1"));
}
void random_prefixes(benchmark::State& state) {
  random_keys(state, prefixes() + exact_routes(), 100, [](const std::string& n) {
    return padded("tenant:47" + std::string(2 - n.size(), '0') + n + "|user:" + n);
  });
}
void random_mixed(benchmark::State& state) {
  random_keys(state, mixed(), 2'500, [kind = 0](const std::string& n) mutable {
    switch (kind++ % 4) {
      case 0:
        return padded("tenant:" + n + "|user:" + n);
      case 1:
        return "tenant|user:" + n + "|route:/v1/" + n;
      case 2:
        return padded("user:x" + n + "y|user:" + n);
      default:
        return "t" + n + ":anything|user:1:end" + n;
    }
  });
}
void random_exact(benchmark::State& state) {
  random_keys(state, exact_users() + prefixes(), 10'000, [](const std::string& n) {
    return "user:" + std::to_string(100'000 + std::stoi(n));
  });
}

// One policy of many is changed, again and again; and for comparison, all are compiled.
Strings many(std::int64_t count) {
  Strings out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back("tenant:" + std::to_string(i) + (i % 2 == 0 ? "" : "|*"));
  }
  return out;
}
void change(benchmark::State& state) {
  const Strings keys = many(state.range(0));
  std::shared_ptr<const PolicySet> set = set_of(keys).with({.draft = {.key = keys[0]}});
  std::size_t next = 0;
  for (auto _ : state) {
    const std::string& key = keys[next * 7'919 % keys.size()];
    set = next % 4 == 3 ? set->without(key) : set->with({.draft = {.key = key}});
    ++next;
  }
}
void compile_all(benchmark::State& state) {
  const Strings keys = many(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(set_of(keys).size());
}

BENCHMARK(change)->Arg(100)->Arg(10'000)->Arg(100'000);
BENCHMARK(compile_all)->Arg(100)->Arg(10'000)->Arg(100'000);
BENCHMARK(match_hot);
BENCHMARK(match_prefixes);
BENCHMARK(match_suffixes);
BENCHMARK(match_both_ends);
BENCHMARK(match_middles);
BENCHMARK(match_exact);
BENCHMARK(match_none);
BENCHMARK(random_prefixes)->Name("match_random_prefixes");
BENCHMARK(random_mixed)->Name("match_random_mixed");
BENCHMARK(random_exact)->Name("match_random_exact");

}  // namespace

int main(int argc, char** argv) {
  penstock::bench::Medians reporter;
  if (!reporter.run(argc, argv, "0.1")) return 1;
  // Nanoseconds that a choice may take.
  const std::pair<const char*, double> goals[] = {{"match_hot", 30},
                                                  {"match_suffixes", 40},
                                                  {"match_random_prefixes", 30},
                                                  {"match_random_mixed", 120}};
  for (const auto& [name, goal] : goals) {
    if (const double nanos = reporter.nanos(name); nanos > 0) {
      std::printf("ratio limits.%s %.2f goal 1.00\n", name, goal / nanos);
    }
  }
  return 0;
}
