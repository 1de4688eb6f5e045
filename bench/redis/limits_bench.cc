// Throttle decisions through the Redis backend, as a daemon makes them: batches of waiting checks.
//
//   bench_redis URL THREADS BATCH KEYS SECONDS [cluster]
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "runtime/clocks.h"
#include "store/redis/store.h"

namespace {

using namespace penstock;
using namespace penstock::store;

const core::Limit kLimit{.type = core::LimitType::token_bucket,
                         .capacity = 1'000'000,
                         .refill = {.tokens = 1, .micros = 100},
                         .window = Seconds{60}};

std::unique_ptr<redis::RedisStore> open(const char* url, bool cluster) {
  auto store =
      redis::RedisStore::open({.url = url, .cluster = cluster, .deadline = Seconds{5}}, nullptr);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().what.c_str());
    std::exit(1);
  }
  return std::move(*store);
}

// Batches of one check each, on random keys.
std::int64_t work(LimitStore& limits, int batch, int keys, double seconds, std::uint64_t seed) {
  Rng rng(seed);
  const auto count = static_cast<std::size_t>(batch);
  std::vector<std::string> names(static_cast<std::size_t>(keys));
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "user:" + std::to_string(i);
  std::vector<LimitCheck> checks(count);
  std::vector<core::LimitStatus> statuses(count);
  std::vector<LimitRequest> requests(count);
  std::vector<Result<LimitAnswer>> answers(count, LimitAnswer{});
  std::int64_t decided = 0;
  const runtime::Stopwatch watch;
  while (watch.seconds() < seconds) {
    for (std::size_t i = 0; i < count; ++i) {
      checks[i] = {.key = names[rng.below(names.size())], .limit = kLimit};
      requests[i] = {.checks = {&checks[i], 1}, .cost = 1, .statuses = {&statuses[i], 1}};
    }
    limits.apply(requests, std::nullopt, answers);
    for (const auto& answer : answers) {
      if (!answer) {
        std::fprintf(stderr, "%s\n", answer.error().what.c_str());
        std::exit(1);
      }
      ++decided;
    }
  }
  return decided;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const int threads = std::atoi(argv[2]);
  const auto store = open(argv[1], argc > 6);
  std::atomic<std::int64_t> decided = 0;
  std::vector<std::thread> running;
  const runtime::Stopwatch watch;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      decided += work(*store->backend().limits.store, std::atoi(argv[3]), std::atoi(argv[4]),
                      std::atof(argv[5]), static_cast<std::uint64_t>(thread) + 1);
    });
  }
  for (std::thread& thread : running) thread.join();
  std::printf("%.0f\n", static_cast<double>(decided) / watch.seconds());
}
