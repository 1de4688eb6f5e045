// The way to the limits of a shared engine, which block: requests that wait go together in one
// batch, every request is answered within the deadline whatever the engine does, and none is sent
// while the engine is known to be away. Thread-safe.
//
// A request that was answered `timeout` may still be charged, if it was on its way: errors are on
// the side of counting.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/batcher.h"
#include "runtime/expiry_queue.h"
#include "runtime/metrics.h"
#include "service/throttle/engine_watch.h"
#include "store/limits/ports.h"

namespace penstock::service {

// Some requests that were asked together, with all that they point to: they outlive who asked.
class GateJob {
 public:
  // Called once, with the job's own copy of the requests and the answers in their order. The
  // statuses of a request may only be read when its answer is no error, since the engine may still
  // write to them otherwise.
  using Done = std::move_only_function<void(std::span<const store::LimitRequest> asked,
                                            std::span<Result<store::LimitAnswer>> answers)>;

  // Copies requests, checks and keys; their statuses are the job's own. `keep` lives as long.
  GateJob(std::span<const store::LimitRequest> requests, std::shared_ptr<const void> keep,
          Done done);
  GateJob(const GateJob&) = delete;
  GateJob& operator=(const GateJob&) = delete;

  std::span<const store::LimitRequest> requests() const noexcept { return requests_; }

 private:
  friend class EngineGate;

  bool is_answered() const noexcept { return answered_.load(std::memory_order_relaxed); }
  void answer(std::span<Result<store::LimitAnswer>> answers);
  void answer(const Error& error);

  // What one call of a few keys needs is within the job itself.
  std::array<std::byte, 768> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::string keys_{&memory_};
  std::pmr::vector<store::LimitCheck> checks_{&memory_};
  std::pmr::vector<core::LimitStatus> statuses_{&memory_};
  std::pmr::vector<store::LimitRequest> requests_;
  const std::shared_ptr<const void> keep_;
  Done done_;
  std::atomic<bool> answered_{false};
};

struct EngineGateOptions {
  Millis deadline{50};
  std::size_t workers = 1;         // batches on their way at once; decision 32
  std::size_t join_min = 32;       // as runtime::BatcherOptions
  std::size_t queue_max = 20'000;  // requests waiting; a second of a slow engine's work
  std::size_t batch_max = 512;     // requests in one batch: some milliseconds of an engine's time
};

class EngineGate {
 public:
  // All must outlive this. One per metrics registry.
  EngineGate(const EngineGateOptions& options, store::LimitStore& engine, EngineWatch& watch,
             runtime::Metrics& metrics);
  ~EngineGate() { stop(); }

  // `done` of the job runs on a thread of the gate, or on the caller's when it is refused at once.
  void submit(std::shared_ptr<GateJob> job);

  // Answers what was taken; later jobs are refused. Idempotent.
  void stop();

 private:
  struct Command {
    store::LimitRequest request;
    const GateJob* job = nullptr;
  };
  using Answer = Result<store::LimitAnswer>;

  std::vector<Answer> execute(std::span<Command> commands);

  const EngineGateOptions options_;
  store::LimitStore& engine_;
  EngineWatch& watch_;
  runtime::Counter& batches_;
  runtime::Counter& requests_;
  runtime::Counter& timeouts_;
  runtime::ExpiryQueue<std::shared_ptr<GateJob>> expiries_;
  runtime::Batcher<Command, Answer> batcher_;  // last: its threads use all of the above
};

}  // namespace penstock::service
