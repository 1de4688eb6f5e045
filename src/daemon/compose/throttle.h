// Throttle as a part of the daemon: limits in memory that outlive a restart or those of a shared
// engine, the service on them and on its policies, and the routes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/config/config.h"
#include "front/http/http.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "service/throttle/engine_gate.h"
#include "service/throttle/engine_watch.h"
#include "service/throttle/throttle_service.h"
#include "store/backend.h"
#include "store/limits/memory/memory_limits.h"
#include "store/limits/ports.h"

namespace penstock::daemon {

// Keeps the usage of throttle keys across restarts: takes up at the start what was saved, saves
// what changed at intervals on a thread of its own, and once more at the end. Drops idle keys
// meanwhile.
class LimitSaver {
 public:
  // All must outlive the saver; `limits` must track changes.
  LimitSaver(store::memory::MemoryLimits& limits, store::LimitArchive& archive, Log& log,
             runtime::Metrics& metrics);
  ~LimitSaver() { stop(); }

  // Before anybody asks `limits`.
  Result<void> restore();
  void start(Millis interval);
  // Saves what is left. Idempotent.
  void stop();

 private:
  void tick();
  void save(store::memory::Collect what);

  store::memory::MemoryLimits& limits_;
  store::LimitArchive& archive_;
  Log& log_;
  runtime::Counter& saved_;
  bool failing_ = false;  // one thread at a time: the ticker's, then stop()'s
  std::optional<runtime::Ticker> ticker_;
};

// What throttle needs around an engine that nodes share: the gate to it, the watch over it, what
// this node decides by while it is away, and the cleaning of its tables.
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

// The service and its routes. Without `shared`, `limits` must not block
// (service/throttle/throttle_service.h). All but `config` must outlive the service, and the service
// the routes.
Result<std::unique_ptr<service::ThrottleService>> compose_throttle(
    const ThrottleConfig& config, store::LimitStore& limits, store::PolicyStore& policies,
    const Clock& clock, Log& log, runtime::Metrics& metrics, std::vector<front::Route>& routes,
    std::optional<service::SharedLimits> shared = {});

// Limits of this node alone.
class OwnLimits {
 public:
  OwnLimits(const ThrottleConfig& config, store::LimitArchive& archive, Log& log,
            runtime::Metrics& metrics);

  store::memory::MemoryLimits& limits() noexcept { return limits_; }
  LimitSaver& saver() noexcept { return saver_; }

 private:
  const runtime::SteadyWallClock clock_;  // no step of the wall clock mints or freezes tokens
  store::memory::MemoryLimits limits_;
  LimitSaver saver_;
};

class ThrottlePart {
 public:
  // `backend` holds the policies, and either the limits or what is saved of them. All but `config`
  // must outlive this, and this the routes.
  static Result<std::unique_ptr<ThrottlePart>> start(const ThrottleConfig& config,
                                                     const store::Backend& backend,
                                                     const Clock& clock, Log& log,
                                                     runtime::Metrics& metrics,
                                                     std::vector<front::Route>& routes);

  service::ThrottleService& service() noexcept { return *service_; }

  // See ThrottleService.
  std::string policies_warning() const { return service_->policies_warning(); }

  // Saves what was used until now. Once no request is left; idempotent.
  void stop();

 private:
  ThrottlePart() = default;

  std::unique_ptr<OwnLimits> own_;        // one of the two
  std::unique_ptr<SharedEngine> engine_;  // one of the two
  std::unique_ptr<service::ThrottleService> service_;
};

}  // namespace penstock::daemon
