// The gateway as a part of the daemon: its provider for the dispatchers, then the service and its
// routes, and the bus when that is Kafka: who publishes, and who takes in for the sender.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/compose/dispatch.h"
#include "daemon/config/config.h"
#include "engine/kafka/consumer.h"
#include "engine/kafka/producer.h"
#include "front/http/http.h"
#include "front/http/routes/routes.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "service/gateway/gateway_service.h"
#include "service/gateway/usage_push.h"
#include "service/item_news.h"
#include "sink/message_bus.h"
#include "store/backend.h"
#include "store/quota/cached/cached_gate.h"

namespace penstock::daemon {

class GatewayPart {
 public:
  // Whether a gateway can stand on it.
  static Result<void> check(const store::Backend& backend);

  // For the dispatchers: messages whose provider is the log are written as text. `log` must outlive
  // the sinks.
  static WrapSink wrap_sink(Log& log);

  // All but `config` must outlive this, and this the routes and the checks. `cache`: null = none.
  static Result<std::unique_ptr<GatewayPart>> start(
      const Config& config, const store::Backend& backend, store::QuotaCache* cache,
      DispatchPart& dispatch, service::ItemNews& news, const Clock& clock, Log& log,
      runtime::Metrics& metrics, runtime::MemoryBudget& memory, std::uint64_t seed,
      std::vector<front::Route>& routes, std::vector<front::ReadyCheck>& checks);

  // Hands usage on, when that is configured.
  Result<void> start_export(const UsageExportConfig& config, Millis retention,
                            store::UsageExport& store, std::string node, const Clock& clock,
                            Log& log, runtime::Metrics& metrics);

  // Finishes what was taken. Once no request is left; idempotent.
  void stop();

 private:
  Result<void> connect(const Config& config, Log& log);
  Result<void> take_in(const Config& config, DispatchPart& dispatch, const Clock& clock, Log& log,
                       runtime::Metrics& metrics, runtime::MemoryBudget& memory);
  void add_checks(std::vector<front::ReadyCheck>& checks);

  const runtime::SteadyWallClock steady_;
  std::unique_ptr<kafka::Producer> producer_;  // null = the bus is the outbox; so with the others
  std::unique_ptr<sink::MessageBus> bus_;
  std::unique_ptr<store::cached::CachedGate> gate_;  // null = the store has no cache before it
  std::unique_ptr<store::cached::CachedQuotas> cached_;
  std::optional<service::GatewayService> service_;
  std::unique_ptr<kafka::Consumer> consumer_;  // null = also: stopped
  std::unique_ptr<service::UsagePush> push_;   // null = usage goes nowhere
};

}  // namespace penstock::daemon
