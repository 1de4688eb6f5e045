// What throttle needs around an engine that nodes share: the gate to it, the watch over it, what
// this node decides by while it is away, and the cleaning of its tables.
#pragma once

#include <memory>
#include <optional>

#include "base/log.h"
#include "base/result.h"
#include "daemon/config/config.h"
#include "runtime/metrics.h"
#include "runtime/steady_wall_clock.h"
#include "runtime/ticker.h"
#include "service/throttle/engine_gate.h"
#include "service/throttle/engine_watch.h"
#include "service/throttle/throttle_service.h"
#include "store/backend.h"
#include "store/limits/memory/memory_limits.h"

namespace penstock::daemon {

class SharedEngine {
 public:
  // `backend` has limits and nodes. All but `config` must outlive this.
  SharedEngine(const ThrottleConfig& config, const store::Backend& backend, Log& log,
               runtime::Metrics& metrics);
  ~SharedEngine() { stop(); }

  service::SharedLimits parts() noexcept { return {gate_, watch_, local_}; }

  // `service` must outlive the time until stop().
  void start(service::ThrottleService& service);
  // Idempotent.
  void stop();

 private:
  void sweep(store::LimitSweep& sweeper);

  const runtime::SteadyWallClock clock_;
  store::memory::MemoryLimits local_;
  service::EngineWatch watch_;
  service::EngineGate gate_;
  store::LimitSweep* const sweeper_;
  runtime::Counter& swept_;
  std::optional<runtime::Ticker> sweeps_;
};

}  // namespace penstock::daemon
