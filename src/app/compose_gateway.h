// The gateway as a part of the daemon: its provider for the dispatchers, then the service and its
// routes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/compose_dispatch.h"
#include "app/config/config.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "front/http/http.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatch_service.h"
#include "service/gateway/gateway_service.h"
#include "service/gateway/usage_push.h"
#include "store/backend.h"

namespace penstock::app {

class GatewayPart {
 public:
  // Whether a gateway can stand on it.
  static Result<void> check(const store::Backend& backend);

  // For the dispatchers: messages whose provider is the log are written as text. `log` must outlive
  // the sinks.
  static WrapSink wrap_sink(Log& log);

  // All but `config` must outlive this, and this the routes.
  GatewayPart(const Config& config, const store::Backend& backend,
              service::DispatchService& dispatch, const Clock& clock, Log& log,
              runtime::Metrics& metrics, std::uint64_t seed, std::vector<front::Route>& routes);

  // Hands usage on, when that is configured.
  Result<void> start_export(const UsageExportConfig& config, Millis retention,
                            store::UsageExport& store, std::string node, const Clock& clock,
                            Log& log, runtime::Metrics& metrics);

  // Finishes what was taken. Once no request is left; idempotent.
  void stop() {
    if (push_) push_->stop();
    service_.stop();
  }

 private:
  service::GatewayService service_;
  std::unique_ptr<service::UsagePush> push_;  // null = usage goes nowhere
};

}  // namespace penstock::app
