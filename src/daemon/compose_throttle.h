// Throttle as a part of the daemon: limits in memory that outlive a restart or those of a shared
// engine, the service on them and on its policies, and the routes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/config/config.h"
#include "daemon/limit_saver.h"
#include "daemon/shared_engine.h"
#include "front/http/http.h"
#include "runtime/metrics.h"
#include "runtime/steady_wall_clock.h"
#include "service/throttle/throttle_service.h"
#include "store/backend.h"
#include "store/limits/memory/memory_limits.h"

namespace penstock::daemon {

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
