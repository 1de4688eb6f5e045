#include "daemon/compose/dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "front/http/dispatch_routes.h"
#include "service/payments/payment_execution.h"

namespace penstock::daemon {
namespace {

// This life of this process, for people too: host, process and a number no other life has.
std::string node_name(std::uint64_t seed) {
  std::array<char, 64> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"node"};
  return fmt::format("{}-{}-{:08x}", host.data(), getpid(), static_cast<std::uint32_t>(seed));
}

Result<void> require_dispatch(const store::Backend& backend) {
  if (backend.queue.store != nullptr && backend.queue.leases != nullptr &&
      backend.queue.types != nullptr) {
    return {};
  }
  return fail(ErrorKind::invalid, "the " + backend.name + " store cannot hold items");
}

// Notices can only be made by payments. Their items hold nothing that could be forged by sending
// them again.
std::vector<service::OwnedType> owned_types() {
  return {{.type = store::payment_item_type(),
           .owner = "payments",
           .create = "POST /api/v1/payments",
           .cancel = "POST /api/v1/payments/{paymentId}/cancel",
           .redrive = "POST /api/v1/payments/{paymentId}/redrive"},
          {.type = service::notice_item_type(),
           .owner = "payments",
           .create = "POST /api/v1/payments",
           .cancel = {},
           .redrive = {}},
          {.type = store::message_item_type(),
           .owner = "the gateway",
           .create = "POST /api/send",
           .cancel = "POST /api/messages/{messageId}/cancel",
           .redrive = "POST /api/messages/{messageId}/redrive"}};
}

service::DispatchOptions dispatch_options(const Config& config, std::uint64_t seed) {
  const bool shared = config.dispatch.store == StoreChoice::postgres;
  // The embedded store has one writer; PostgreSQL works on as many batches as it has connections.
  const std::size_t writers = shared ? config.postgres.connections : 1;
  service::DispatchOptions options{.default_slot_config = config.slots.default_config_name,
                                   .slot_max_delay = config.slots.max_delay,
                                   .writers = writers,
                                   .owned = owned_types()};
  options.dispatchers = {
      .node = node_name(seed),
      .workers = shared ? writers : 2,
      .id_retention = config.dispatch.id_retention,
      .id_retention_of = {{store::payment_item_type(), config.payments.retention}},
      .seed = seed};
  return options;
}

Result<std::string> read_pem(std::string_view key, const std::filesystem::path& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file && !text.empty()) return text;
  return fail(ErrorKind::invalid, fmt::format("{}: cannot read {}", key, path.string()));
}

}  // namespace

Result<sink::TemporalOptions> temporal_options(const TemporalConfig& config) {
  sink::TemporalOptions options{.address = config.address,
                                .namespace_name = config.namespace_name,
                                .version = PENSTOCK_VERSION,
                                .tls = config.tls,
                                .server_name = config.server_name,
                                .api_key = config.api_key};
  const auto take = [](std::string& text, std::string_view key,
                       const std::filesystem::path& path) -> Result<void> {
    Result<std::string> read = read_pem(key, path);
    if (!read) return std::unexpected(std::move(read.error()));
    text = std::move(*read);
    return {};
  };
  Result<void> taken = take(options.ca_certificates, "temporal.tls.ca-file", config.ca_file);
  if (taken) {
    taken = take(options.certificate, "temporal.tls.certificate-file", config.certificate_file);
  }
  if (taken) taken = take(options.key, "temporal.tls.key-file", config.key_file);
  if (!taken) return std::unexpected(std::move(taken.error()));
  return options;
}

kafka::Connection kafka_connection(const KafkaConfig& config) {
  return {.brokers = config.brokers,
          .tls = config.tls,
          .ca_file = config.ca_file.string(),
          .certificate_file = config.certificate_file.string(),
          .key_file = config.key_file.string(),
          .sasl_mechanism = config.sasl_mechanism,
          .username = config.username,
          .password = config.password};
}

Result<std::unique_ptr<DispatchPart>> DispatchPart::start(
    const Config& config, const store::Backend& backend, service::ItemNews& news,
    const Clock& clock, Log& log, runtime::Metrics& metrics, runtime::MemoryBudget& memory,
    std::uint64_t seed, WrapSink wrap, std::span<const sink::SinkExtension> extensions,
    sink::ReceiptBook* receipts, std::vector<front::Route>& routes,
    std::vector<front::ReadyCheck>& checks) {
  if (Result<void> able = require_dispatch(backend); !able) {
    return std::unexpected(std::move(able.error()));
  }
  auto http = sink::HttpClient::make(
      clock, {.user_agent = "Penstock/" PENSTOCK_VERSION,
              .ca_file = config.dispatch.ca_file.string(),
              .refuse_private_addresses = config.dispatch.refuse_private_addresses});
  if (!http) return std::unexpected(std::move(http.error()));
  std::unique_ptr<DispatchPart> part(new DispatchPart(std::move(*http), log));
  part->sinks_.extensions = extensions;
  if (Result<void> connected = part->connect(config, log, metrics, receipts, seed); !connected) {
    return std::unexpected(std::move(connected.error()));
  }
  auto service = service::DispatchService::start(
      dispatch_options(config, seed),
      {.queue = *backend.queue.store,
       .leases = *backend.queue.leases,
       .types = *backend.queue.types,
       .feed = backend.queue.feed,
       .news = &news,
       .slot_life = backend.slots.life,
       .make_sink = [part = part.get(), wrap = std::move(wrap)](
                        const ItemType& type,
                        const core::SinkSettings& settings) -> Result<std::unique_ptr<sink::Sink>> {
         Result<std::unique_ptr<sink::Sink>> made = sink::make_sink(settings, part->sinks_);
         if (!made) return made;
         return wrap(type, settings, std::move(*made));
       },
       .check_sink =
           [extensions](const core::SinkSettings& settings) {
             return sink::check_sink(settings, extensions);
           },
       .wall = clock,
       .steady = part->steady_,
       .memory = memory,
       .retention_clock = backend.retention_clock},
      log, metrics);
  if (!service) return std::unexpected(std::move(service.error()));
  part->service_ = std::move(*service);
  front::add_dispatch_routes(routes, *part->service_, config.dispatch.context_bytes_max, clock);
  front::add_dispatch_type_routes(routes, *part->service_, clock);
  part->add_checks(checks);
  return part;
}

Result<void> DispatchPart::connect(const Config& config, Log& log, runtime::Metrics& metrics,
                                   sink::ReceiptBook* receipts, std::uint64_t seed) {
  smpp_ = std::make_unique<sink::SmppClient>(
      log, metrics, receipts,
      sink::SmppOptions{.refuse_private_addresses = config.dispatch.refuse_private_addresses,
                        .seed = seed});
  sinks_.smpp = smpp_.get();
  if (!config.kafka.brokers.empty()) {
    auto producer =
        kafka::Producer::make(steady_, log, {.connection = kafka_connection(config.kafka)});
    if (!producer) {
      return fail(ErrorKind::invalid, "kafka cannot be used: " + producer.error().what);
    }
    kafka_ = std::move(*producer);
    sinks_.kafka = kafka_.get();
  }
  if (!config.temporal.address.empty()) {
    Result<sink::TemporalOptions> options = temporal_options(config.temporal);
    if (!options) return std::unexpected(std::move(options.error()));
    temporal_ = std::make_unique<sink::TemporalClient>(steady_, log, metrics, std::move(*options));
    sinks_.temporal = temporal_.get();
  }
  return {};
}

void DispatchPart::stop() { service_->stop(); }

void DispatchPart::add_checks(std::vector<front::ReadyCheck>& checks) {
  checks.push_back({.name = "sink.kafka",
                    .check = [this]() -> Result<void> {
                      if (kafka_) return kafka_->health();
                      return fail(ErrorKind::unavailable,
                                  "item types go to Kafka, and kafka.brokers is not set");
                    },
                    .applies = [this] { return service_->uses_sink(core::SinkType::kafka); }});
  checks.push_back({.name = "sink.temporal",
                    .check = [this]() -> Result<void> {
                      if (temporal_) return temporal_->health();
                      return fail(ErrorKind::unavailable,
                                  "item types go to Temporal, and temporal.address is not set");
                    },
                    .applies = [this] { return service_->uses_sink(core::SinkType::temporal); }});
  checks.push_back({.name = "sink.extensions",
                    .check = [this] { return service_->check_sinks(); },
                    .applies = [this] { return service_->uses_sink(core::SinkType::extension); }});
  checks.push_back({.name = "sink.smpp",
                    .check = [this] { return smpp_->health(); },
                    .applies = [this] { return service_->uses_sink(core::SinkType::smpp); }});
}

}  // namespace penstock::daemon
