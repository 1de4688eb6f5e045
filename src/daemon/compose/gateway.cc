#include "daemon/compose/gateway.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "daemon/compose/stores.h"
#include "engine/http/answer.h"
#include "engine/http/http_client.h"
#include "front/http/routes/routes.h"
#include "front/intake/intake.h"
#include "service/gateway/sms_log_sink.h"
#include "sink/kafka/kafka.h"
#include "wire/bulk.h"
#include "wire/gateway.h"

namespace penstock::daemon {
namespace {

// Statuses of the whole request: too busy, or broken, and so for the time being.
Error not_taken(const http::HttpAnswer& answer) {
  return {.kind = answer.status == 429 ? ErrorKind::overloaded : ErrorKind::unavailable,
          .what = "OpenSearch says " + http::error_sentence(answer),
          .retry_after = answer.retry_after.value_or(Millis::zero())};
}

Result<service::BulkAnswer> send(http::HttpClient& client, const std::string& index,
                                 std::span<const store::UserMinute> batch) {
  http::HttpCall call{
      .method = "POST", .target = "/_bulk", .body = {}, .content_type = "application/x-ndjson"};
  call.body.reserve(batch.size() * 200);
  for (const store::UserMinute& each : batch) {
    wire::append_bulk_usage(call.body, index,
                            {.user = each.user.raw,
                             .minute = each.minute,
                             .sent = each.counts.sent,
                             .limited = each.counts.limited,
                             .failed = each.counts.failed});
  }
  const http::HttpAnswer answer = PENSTOCK_TRY(client.call(call));
  // A refusal of the whole (401, 404, 413) is the operator's to mend: until then it is repeated.
  if (answer.status != 200) return std::unexpected(not_taken(answer));
  Result<wire::BulkOutcome> outcome = wire::decode_bulk_answer(answer.body);
  if (!outcome) {
    return fail(ErrorKind::unavailable, "OpenSearch's answer " + outcome.error().what);
  }
  return service::BulkAnswer{.rejected = std::move(outcome->rejected), .again = outcome->again};
}

// Between two looks whether the brokers are there: what a request meets at most of an outage that
// nobody has noticed is this and the publish deadline.
constexpr Millis kProbeInterval = Seconds{1};
// A start waits this long for the first of these looks: it takes some milliseconds, or a second
// when nobody answers.
constexpr Millis kProbePatience = Seconds{3};
// From a report of Kafka until its key is settled; a store that takes longer only makes the same
// message be published once more, under the same id.
constexpr Millis kSettleTime = Seconds{2};

service::GatewayOptions gateway_options(const Config& config, std::uint64_t seed) {
  return {.cost = config.gateway.cost,
          .path = {.writers = writers_of(config, config.gateway.store)},
          .key_live = config.gateway.kafka_publish_deadline + kSettleTime,
          .item_retention = config.dispatch.id_retention,
          .attempts = config.gateway.attempts,
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

// Hands usage to an OpenSearch by its bulk interface. `invalid` when the URL or the certificates
// cannot be used. Connects with the first batch.
Result<service::BulkTarget> make_opensearch_target(const UsageExportConfig& config) {
  Result<http::Url> url = http::parse_url(config.opensearch_url);
  if (!url) {
    return fail(ErrorKind::invalid,
                "gateway.export.opensearch-url must be an http:// or https:// address");
  }
  http::HttpClientOptions options{.url = std::move(*url), .ca_file = config.ca_file.string()};
  if (!config.username.empty()) options.basic = config.username + ":" + config.password;
  const std::shared_ptr<http::HttpClient> client =
      PENSTOCK_TRY(http::HttpClient::make(std::move(options)));
  return [client, index = config.index](std::span<const store::UserMinute> batch) {
    return send(*client, index, batch);
  };
}

}  // namespace

Result<void> GatewayPart::check(const store::Backend& backend) {
  return require(backend, "hold quotas",
                 {backend.quota.store, backend.quota.keys, backend.queue.store, backend.queue.types,
                  backend.quota.deliveries, backend.quota.usage, backend.quota.attempts});
}

WrapSink GatewayPart::wrap_sink(Log& log) {
  return [&log](const ItemType& type, const core::SinkSettings& settings,
                std::unique_ptr<sink::Sink> sink) -> std::unique_ptr<sink::Sink> {
    if (type != store::message_item_type() || settings.kind != "log") return sink;
    return std::make_unique<service::SmsLogSink>(log, wire::message_line);
  };
}

Result<void> GatewayPart::connect(const Config& config, Log& log) {
  // One of its own: what the sinks of dispatch send may wait for half a minute, a request may not.
  auto producer = kafka::Producer::make(
      steady_, log,
      {.connection = kafka_connection(config.kafka),
       .message_timeout = config.gateway.kafka_publish_deadline,
       .probe_interval = kProbeInterval,
       .topic = kafka::NewTopic{.name = config.gateway.kafka_topic,
                                .partitions = config.gateway.kafka_partitions}});
  if (!producer) return fail(ErrorKind::invalid, "gateway.bus: " + producer.error().what);
  producer_ = std::move(*producer);
  bus_ = std::make_unique<sink::KafkaBus>(*producer_, config.gateway.kafka_topic);
  return {};
}

Result<void> GatewayPart::take_in(const Config& config, DispatchPart& dispatch, const Clock& clock,
                                  Log& log, runtime::Metrics& metrics,
                                  runtime::MemoryBudget& memory) {
  // A topic that is there when its consumer asks for it is read at once, else some seconds later.
  producer_->wait_for_probe(kProbePatience);
  auto consumer = kafka::Consumer::make(
      steady_, log, metrics, memory, *dispatch.kafka(),
      {.connection = kafka_connection(config.kafka),
       .group = config.gateway.kafka_group,
       .dead_letter_suffix = config.kafka.dead_letter_suffix},
      {{config.gateway.kafka_topic, front::message_intake(dispatch.service(), *service_, clock)}});
  if (!consumer) return fail(ErrorKind::invalid, "gateway.bus: " + consumer.error().what);
  consumer_ = std::move(*consumer);
  return {};
}

void GatewayPart::add_checks(std::vector<front::ReadyCheck>& checks) {
  checks.push_back(
      {.name = "bus.kafka", .check = [this]() -> Result<void> { return producer_->health(); }});
  checks.push_back({.name = "sender.kafka", .check = [this]() -> Result<void> {
                      if (consumer_) return consumer_->health();
                      return fail(ErrorKind::unavailable, "stopped");
                    }});
}

Result<std::unique_ptr<GatewayPart>> GatewayPart::start(
    const Config& config, const store::Backend& backend, store::QuotaCache* cache,
    DispatchPart& dispatch, service::ItemNews& news, const Clock& clock, Log& log,
    runtime::Metrics& metrics, runtime::MemoryBudget& memory, std::uint64_t seed,
    std::vector<front::Route>& routes, std::vector<front::ReadyCheck>& checks) {
  auto part = std::make_unique<GatewayPart>();
  const bool kafka = config.gateway.bus == BusChoice::kafka;
  if (kafka) {
    PENSTOCK_TRY(part->connect(config, log));
  }
  store::QuotaStore* quotas = backend.quota.store;
  if (cache != nullptr) {
    part->gate_ = std::make_unique<store::cached::CachedGate>(
        *backend.quota.ledger, *cache, store::cached::CacheOptions{}, seed, &log);
    part->cached_ =
        std::make_unique<store::cached::CachedQuotas>(*backend.quota.store, *part->gate_);
    quotas = part->cached_.get();
    metrics.gauge_function(
        "penstock_gateway_cache_in_use", "1 = quotas are charged by Redis, 0 = by PostgreSQL alone",
        [gate = part->gate_.get()] { return gate->member().in_use() ? 1.0 : 0.0; });
  }
  part->service_.emplace(
      gateway_options(config, seed),
      service::GatewayPorts{.quotas = *quotas,
                            .queue = *backend.queue.store,
                            .types = *backend.queue.types,
                            .clock = clock,
                            .wake = [&news] { news.tell(store::message_item_type()); },
                            .context = wire::encode_message_context,
                            .deliveries = backend.quota.deliveries,
                            .usage_export = backend.quota.usage,
                            .attempts = backend.quota.attempts,
                            .bus = part->bus_.get(),
                            .keys = backend.quota.keys,
                            .retention_clock = backend.retention_clock},
      log, metrics);
  front::add_gateway_routes(routes, *part->service_, sentences_of(config), clock);
  if (!kafka) return part;
  PENSTOCK_TRY(part->take_in(config, dispatch, clock, log, metrics, memory));
  part->add_checks(checks);
  return part;
}

void GatewayPart::stop() {
  if (push_) push_->stop();
  consumer_.reset();
  service_->stop();
}

Result<void> GatewayPart::start_export(const UsageExportConfig& config, Millis retention,
                                       store::UsageExport& store, std::string node,
                                       const Clock& clock, Log& log, runtime::Metrics& metrics) {
  if (config.opensearch_url.empty()) return {};
  service::BulkTarget target = PENSTOCK_TRY(make_opensearch_target(config));
  push_ = std::make_unique<service::UsagePush>(
      service::UsagePushOptions{
          .node = std::move(node), .interval = config.interval, .backlog = retention},
      store, std::move(target), clock, log, metrics);
  return {};
}

}  // namespace penstock::daemon
