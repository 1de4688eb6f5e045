// What others do for the same question, as they would be written: a bucket of doubles behind a
// mutex, and one atomic double moved by compare-and-swap (the design of folly's TokenBucket). Bare,
// as one bucket; behind a hash map whose keys are all known beforehand; and behind one that takes
// new keys, which is the job that a limiter has.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/tick_clock.h"

namespace penstock::bench {

// The same clock as ours, so that the buckets are compared and not the clocks.
inline double steady_seconds() {
  return std::chrono::duration<double>(runtime::tick_micros()).count();
}

// Buckets are full at first, whatever the clock shows: it counts from the start of the machine.
constexpr double kLongAgo = -1e12;

// What an answer to a client says besides yes or no; ours always does.
struct Told {
  std::int64_t remaining = 0;
  std::int64_t reset_micros = 0;

  Told(double tokens, double rate, double burst)
      : remaining(static_cast<std::int64_t>(tokens)),
        reset_micros(static_cast<std::int64_t>((burst - tokens) / rate * 1e6)) {}
  Told() = default;
};

class MutexBucket {
 public:
  bool take(double cost, double rate, double burst, Told* told = nullptr) {
    const double now = steady_seconds();
    const std::lock_guard lock(mutex_);
    tokens_ = std::min(burst, tokens_ + (now - last_) * rate);
    last_ = now;
    if (tokens_ < cost) return false;
    tokens_ -= cost;
    if (told != nullptr) *told = Told(tokens_, rate, burst);
    return true;
  }

 private:
  std::mutex mutex_;
  double tokens_ = 0;       // guarded by mutex_
  double last_ = kLongAgo;  // guarded by mutex_
};

class AtomicBucket {
 public:
  bool take(double cost, double rate, double burst, Told* told = nullptr) {
    const double now = steady_seconds();
    double zero = zero_time_.load(std::memory_order_relaxed);
    double next = 0;
    double tokens = 0;
    do {
      tokens = std::min((now - zero) * rate, burst);
      if (tokens < cost) return false;
      next = now - (tokens - cost) / rate;
    } while (!zero_time_.compare_exchange_weak(zero, next));
    if (told != nullptr) *told = Told(tokens - cost, rate, burst);
    return true;
  }

 private:
  std::atomic<double> zero_time_ = kLongAgo;  // when the bucket would have been empty
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// The map is filled before the measurement, so that reading it needs no lock: a gift to the peers.
template <class Bucket>
class KeyedPeer {
 public:
  void add(std::string_view key) { buckets_.emplace(std::string(key), std::make_unique<Bucket>()); }
  bool take(std::string_view key, double cost, double rate, double burst) {
    return buckets_.find(key)->second->take(cost, rate, burst);
  }

 private:
  std::unordered_map<std::string, std::unique_ptr<Bucket>, TextHash, std::equal_to<>> buckets_;
};

// The whole job of a limiter: any thread may come with a new key at any time, and is told what is
// left.
template <class Bucket>
class GrowingPeer {
 public:
  bool take(std::string_view key, double cost, double rate, double burst, Told& told) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = buckets_.find(key);
      if (found != buckets_.end()) return found->second->take(cost, rate, burst, &told);
    }
    const std::lock_guard lock(mutex_);
    auto& bucket = buckets_[std::string(key)];
    if (!bucket) bucket = std::make_unique<Bucket>();
    return bucket->take(cost, rate, burst, &told);
  }

 private:
  std::shared_mutex mutex_;
  // guarded by mutex_
  std::unordered_map<std::string, std::unique_ptr<Bucket>, TextHash, std::equal_to<>> buckets_;
};

}  // namespace penstock::bench
