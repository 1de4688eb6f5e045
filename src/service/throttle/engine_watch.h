// Watches one engine that several nodes share: a breaker that spares a dead engine, the probes that
// notice its return, and a count of the nodes that live. Thread-safe; owns one thread.
//
// Closed, calls go to the engine; after kFailuresMax failures in a row it opens, and callers are
// told `unavailable` at once. The thread then asks at growing intervals (Backoff), and when an
// answer comes, lets `on_return` put things in order before calls go to the engine again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/connection_health.h"
#include "runtime/metrics.h"
#include "store/limits/ports.h"

namespace penstock::service {

struct EngineWatchOptions {
  std::string engine;                 // its name, for people
  std::string node;                   // this node among those that share the engine
  Millis beat_interval = Seconds{2};  // five chances within alive_within
  Millis alive_within = Seconds{10};  // the contract's
  std::uint64_t seed = 1;             // of the jitter between probes
};

class EngineWatch {
 public:
  // Less than one failed batch may be chance; ten would be half a second of lost time.
  static constexpr int kFailuresMax = 3;

  using OnReturn = std::function<Result<void>()>;

  // All must outlive this. One per metrics registry.
  EngineWatch(EngineWatchOptions options, store::NodeRegistry& nodes, Log& log,
              runtime::Metrics& metrics);
  ~EngineWatch() { stop(); }

  // Begins to beat. An error of `on_return` means that the engine is still away. It runs on the
  // watch's thread.
  void start(OnReturn on_return);
  // Says goodbye to the other nodes. Idempotent.
  void stop();

  bool usable() const noexcept { return usable_.load(std::memory_order_relaxed); }
  // What callers are told meanwhile.
  Error away() const;

  void succeeded() noexcept {
    if (failures_.load(std::memory_order_relaxed) != 0) failures_.store(0);
  }
  void failed(const Error& error);

  // Nodes alive when the engine last answered, this one included.
  std::size_t nodes() const noexcept { return nodes_alive_.load(std::memory_order_relaxed); }

 private:
  void run();
  void beat();
  void open(const Error& error);

  const EngineWatchOptions options_;
  store::NodeRegistry& nodes_;
  Log& log_;
  runtime::Gauge& up_;
  runtime::Counter& outages_;
  OnReturn on_return_;

  std::atomic<bool> usable_{true};
  std::atomic<int> failures_{0};  // in a row
  std::atomic<std::size_t> nodes_alive_{1};

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;     // guarded by mutex_
  bool opened_ = false;       // guarded by mutex_; since the thread last looked
  std::string last_problem_;  // guarded by mutex_
  runtime::Backoff backoff_;  // the thread's
  std::thread thread_;        // last: it uses all of the above
};

}  // namespace penstock::service
