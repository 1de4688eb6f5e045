// Clients that ask for decisions for a few seconds, and what they got.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "runtime/clocks.h"
#include "store/limits/ports.h"

namespace penstock::bench {

inline constexpr double kSeconds = 3.0;
inline constexpr std::size_t kBatch = 64;
inline constexpr int kSeedClients = 16;

// Admits for as long as a run takes, so that every check writes.
inline constexpr core::Limit kLimit{.type = core::LimitType::token_bucket,
                                    .capacity = 1'000'000'000,
                                    .refill = {1'000, 1},
                                    .window = Seconds{60}};

inline std::string key_name(std::uint64_t number) { return "user:" + std::to_string(number); }

// `work(client, rng)` decides some checks and says how many; negative = it failed. Answers checks
// per second.
inline double measure(int clients, const std::function<int(int, Rng&)>& work) {
  std::atomic<std::int64_t> checks = 0;
  std::atomic<std::int64_t> failures = 0;
  std::vector<std::thread> threads;
  const runtime::Stopwatch watch;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      Rng rng(static_cast<std::uint64_t>(client) + 1);
      while (watch.seconds() < kSeconds) {
        const int done = work(client, rng);
        (done < 0 ? failures : checks) += done < 0 ? 1 : done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double rate = static_cast<double>(checks) / watch.seconds();
  if (failures > 0) std::printf("  (%lld calls failed)\n", static_cast<long long>(failures.load()));
  return rate;
}

// One batch of checks of random keys. Answers how many were decided.
inline int decide_batch(store::LimitStore& limits, std::uint64_t keys, Rng& rng) {
  std::array<std::string, kBatch> names;
  std::array<store::LimitCheck, kBatch> checks;
  std::array<core::LimitStatus, kBatch> statuses;
  std::array<store::LimitRequest, kBatch> requests;
  std::vector<Result<store::LimitAnswer>> answers(kBatch, store::LimitAnswer{});
  for (std::size_t i = 0; i < kBatch; ++i) {
    names[i] = key_name(rng.below(keys));
    checks[i] = {.key = names[i], .limit = kLimit};
    requests[i] = {.checks = {&checks[i], 1}, .cost = 1, .statuses = {&statuses[i], 1}};
  }
  limits.apply(requests, std::nullopt, answers);
  for (const auto& answer : answers) {
    if (!answer || !answer->admitted) return -1;
  }
  return static_cast<int>(kBatch);
}

// The predecessor's decision: refill by the time that has passed, then take one token.
struct SeedBucket {
  std::int64_t tokens;
  std::int64_t last_refill_ms;

  bool take(std::int64_t now_ms) {
    constexpr std::int64_t kPerMilli = 1'000'000;
    tokens = std::min(kLimit.capacity, tokens + (now_ms - last_refill_ms) * kPerMilli);
    last_refill_ms = now_ms;
    if (tokens < 1) return false;
    --tokens;
    return true;
  }
};

}  // namespace penstock::bench
