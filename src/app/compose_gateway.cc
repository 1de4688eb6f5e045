#include "app/compose_gateway.h"

#include <utility>

#include "app/opensearch.h"
#include "front/http/gateway_routes.h"
#include "service/gateway/sms_log_sink.h"
#include "wire/gateway.h"

namespace penstock::app {
namespace {

service::GatewayOptions options_of(const Config& config, std::uint64_t seed) {
  // As dispatch: the embedded store has one writer.
  const bool shared = config.gateway.store == StoreChoice::postgres;
  return {.cost = config.gateway.cost,
          .writers = shared ? config.postgres.connections : 1,
          .usage_retention = config.gateway.analytics_retention,
          .seed = seed};
}

front::GatewaySentences sentences_of(const Config& config) {
  front::GatewaySentences sentences;
  if (config.gateway.store == StoreChoice::postgres) {
    sentences.store_down = "Postgres Down : Service Unavailable";
  }
  return sentences;
}

}  // namespace

Result<void> GatewayPart::check(const store::Backend& backend) {
  if (backend.quotas == nullptr || backend.queue == nullptr || backend.item_types == nullptr ||
      backend.deliveries == nullptr || backend.usage_export == nullptr) {
    return fail(ErrorKind::invalid, "the " + backend.name + " store cannot hold quotas");
  }
  return {};
}

WrapSink GatewayPart::wrap_sink(Log& log) {
  return [&log](const ItemType& type, const core::SinkSettings& settings,
                std::unique_ptr<sink::Sink> sink) -> std::unique_ptr<sink::Sink> {
    if (type != store::message_item_type() || settings.type != core::SinkType::log) return sink;
    return std::make_unique<service::SmsLogSink>(log, wire::message_line);
  };
}

GatewayPart::GatewayPart(const Config& config, const store::Backend& backend,
                         service::DispatchService& dispatch, const Clock& clock, Log& log,
                         runtime::Metrics& metrics, std::uint64_t seed,
                         std::vector<front::Route>& routes)
    : service_(options_of(config, seed),
               {.quotas = *backend.quotas,
                .queue = *backend.queue,
                .types = *backend.item_types,
                .clock = clock,
                .wake = [&dispatch] { dispatch.wake(store::message_item_type()); },
                .context = wire::encode_message_context,
                .deliveries = backend.deliveries,
                .usage_export = backend.usage_export},
               log, metrics) {
  front::add_gateway_routes(routes, service_, sentences_of(config), clock);
}

Result<void> GatewayPart::start_export(const UsageExportConfig& config, Millis retention,
                                       store::UsageExport& store, std::string node,
                                       const Clock& clock, Log& log, runtime::Metrics& metrics) {
  if (config.opensearch_url.empty()) return {};
  Result<service::BulkTarget> target = make_opensearch_target(config);
  if (!target) return std::unexpected(std::move(target.error()));
  push_ = std::make_unique<service::UsagePush>(
      service::UsagePushOptions{
          .node = std::move(node), .interval = config.interval, .backlog = retention},
      store, std::move(*target), clock, log, metrics);
  return {};
}

}  // namespace penstock::app
