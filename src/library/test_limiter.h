// A limiter whose clock the test moves, and how tests write policies.
#pragma once

#include <penstock/limiter.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace penstock {

// Read by limiters whose clock is simulated_now.
inline std::atomic<std::int64_t> simulated_micros;
inline std::chrono::microseconds simulated_now() {
  return std::chrono::microseconds{simulated_micros};
}

constexpr std::int64_t kStart = 1'750'000'000'000'000;

inline Limiter make(LimiterOptions options = {}) {
  simulated_micros = kStart;
  options.clock = simulated_now;
  return *Limiter::make(options);
}

inline Policy bucket(std::string key, std::int64_t capacity, std::string per_second = "10") {
  return {.key = std::move(key),
          .capacity = capacity,
          .refill = refill_per_second(std::move(per_second))};
}

}  // namespace penstock
