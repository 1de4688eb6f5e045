#include "daemon/compose/dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "front/http/routes/routes.h"
#include "service/payments/payment_execution.h"
#include "sink/kafka/kafka.h"
#include "sink/log/log_sink.h"
#include "wire/described.h"

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
  options.ca_certificates = PENSTOCK_TRY(read_pem("temporal.tls.ca-file", config.ca_file));
  options.certificate =
      PENSTOCK_TRY(read_pem("temporal.tls.certificate-file", config.certificate_file));
  options.key = PENSTOCK_TRY(read_pem("temporal.tls.key-file", config.key_file));
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

std::vector<sink::SinkKind> sink_kinds(const SinkClients& clients) {
  return {sink::log_kind(clients.log), sink::http_kind(clients.http),
          sink::kafka_kind(clients.kafka), sink::temporal_kind(clients.temporal),
          sink::smpp_kind(clients.smpp)};
}

Result<std::unique_ptr<DispatchPart>> DispatchPart::start(
    const Config& config, const store::Backend& backend, service::ItemNews& news,
    const Clock& clock, Log& log, runtime::Metrics& metrics, runtime::MemoryBudget& memory,
    std::uint64_t seed, WrapSink wrap, std::span<const sink::MakeExtension> extensions,
    sink::ReceiptBook* receipts, std::vector<front::Route>& routes,
    std::vector<front::ReadyCheck>& checks) {
  PENSTOCK_TRY(require_dispatch(backend));
  std::unique_ptr<DispatchPart> part(new DispatchPart);
  PENSTOCK_TRY(part->connect(config, clock, log, metrics, receipts, seed));
  std::vector<sink::SinkKind> kinds = sink_kinds({.log = &log,
                                                  .http = part->http_.get(),
                                                  .kafka = part->kafka_.get(),
                                                  .temporal = part->temporal_.get(),
                                                  .smpp = part->smpp_.get()});
  part->own_kinds_ = kinds.size();
  for (const sink::MakeExtension make : extensions) kinds.push_back(make(log));
  const sink::SinkKinds& sinks = part->kinds_.emplace(std::move(kinds));
  part->service_ = PENSTOCK_TRY(service::DispatchService::start(
      dispatch_options(config, seed),
      {.queue = *backend.queue.store,
       .leases = *backend.queue.leases,
       .types = *backend.queue.types,
       .feed = backend.queue.feed,
       .news = &news,
       .slot_life = backend.slots.life,
       .make_sink = [&sinks, wrap = std::move(wrap)](
                        const ItemType& type,
                        const core::SinkSettings& settings) -> Result<std::unique_ptr<sink::Sink>> {
         return wrap(type, settings, PENSTOCK_TRY(sinks.open(settings)));
       },
       .judge_sink =
           [&sinks](const core::SinkSettings& settings) { return sinks.traits(settings); },
       .sink_kinds = sinks.infos(),
       .wall = clock,
       .steady = part->steady_,
       .memory = memory,
       .retention_clock = backend.retention_clock},
      log, metrics));
  front::add_dispatch_routes(routes, *part->service_, config.dispatch.context_bytes_max, clock);
  part->add_checks(checks);
  return part;
}

Result<void> DispatchPart::connect(const Config& config, const Clock& clock, Log& log,
                                   runtime::Metrics& metrics, sink::ReceiptBook* receipts,
                                   std::uint64_t seed) {
  const bool refuse_private = config.dispatch.refuse_private_addresses;
  http_ = PENSTOCK_TRY(sink::HttpClient::make(clock, {.user_agent = "Penstock/" PENSTOCK_VERSION,
                                                      .ca_file = config.dispatch.ca_file.string(),
                                                      .refuse_private_addresses = refuse_private}));
  smpp_ = std::make_unique<sink::SmppClient>(
      log, metrics, receipts,
      sink::SmppOptions{.refuse_private_addresses = refuse_private, .seed = seed});
  if (!config.kafka.brokers.empty()) {
    auto producer =
        kafka::Producer::make(steady_, log, {.connection = kafka_connection(config.kafka)});
    if (!producer) {
      return fail(ErrorKind::invalid, "kafka cannot be used: " + producer.error().what);
    }
    kafka_ = std::move(*producer);
  }
  if (!config.temporal.address.empty()) {
    sink::TemporalOptions options = PENSTOCK_TRY(temporal_options(config.temporal));
    temporal_ = std::make_unique<sink::TemporalClient>(steady_, log, metrics, std::move(options));
  }
  return {};
}

void DispatchPart::stop() { service_->stop(); }

void DispatchPart::add_checks(std::vector<front::ReadyCheck>& checks) {
  for (const sink::SinkKind& kind : kinds_->all()) {
    if (!kind.health) continue;
    checks.push_back({.name = "sink." + std::string(kind.name),
                      .check = kind.health,
                      .applies = [this, name = kind.name] {
                        return service_->uses_sink(
                            [&](std::string_view used) { return used == name; });
                      }});
  }
  // Kinds that are not ours: another node may have been built with more of them.
  checks.push_back({.name = "sink.extensions",
                    .check = [this] { return service_->check_sinks(); },
                    .applies =
                        [this, ours = kinds_->infos().first(own_kinds_)] {
                          return service_->uses_sink([&](std::string_view used) {
                            return wire::find_kind(ours, used) == nullptr;
                          });
                        }});
}

}  // namespace penstock::daemon
