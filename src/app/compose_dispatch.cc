#include "app/compose_dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "front/http/dispatch_routes.h"

namespace penstock::app {
namespace {

// This life of this process, for people too: host, process and a number no other life has.
std::string node_name(std::uint64_t seed) {
  std::array<char, 64> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"node"};
  return fmt::format("{}-{}-{:08x}", host.data(), getpid(), static_cast<std::uint32_t>(seed));
}

Result<void> require_dispatch(const store::Backend& backend) {
  if (backend.queue != nullptr && backend.leases != nullptr && backend.item_types != nullptr) {
    return {};
  }
  return fail(ErrorKind::invalid, "the " + backend.name + " store cannot hold items");
}

service::DispatchOptions options_of(const Config& config, std::uint64_t seed) {
  const bool shared = config.dispatch.store == StoreChoice::postgres;
  // The embedded store has one writer; PostgreSQL works on as many batches as it has connections.
  const std::size_t writers = shared ? config.postgres.connections : 1;
  service::DispatchOptions options{.default_slot_config = config.slots.default_config_name,
                                   .slot_max_delay = config.slots.max_delay,
                                   .writers = writers};
  options.dispatchers = {
      .node = node_name(seed),
      .workers = shared ? writers : 2,
      .id_retention = config.dispatch.id_retention,
      .id_retention_of = {{store::payment_item_type(), config.payments.retention}},
      .seed = seed};
  return options;
}

}  // namespace

Result<std::unique_ptr<DispatchPart>> DispatchPart::start(const Config& config,
                                                          const store::Backend& backend,
                                                          const Clock& clock, Log& log,
                                                          runtime::Metrics& metrics,
                                                          std::uint64_t seed, WrapSink wrap,
                                                          std::vector<front::Route>& routes) {
  if (Result<void> able = require_dispatch(backend); !able) {
    return std::unexpected(std::move(able.error()));
  }
  auto http = sink::HttpClient::make(
      clock, {.user_agent = "Penstock/" PENSTOCK_VERSION,
              .ca_file = config.dispatch.ca_file.string(),
              .refuse_private_addresses = config.dispatch.refuse_private_addresses});
  if (!http) return std::unexpected(std::move(http.error()));
  std::unique_ptr<DispatchPart> part(new DispatchPart(std::move(*http), log));
  auto service = service::DispatchService::start(
      options_of(config, seed),
      {.queue = *backend.queue,
       .leases = *backend.leases,
       .types = *backend.item_types,
       .feed = backend.item_feed,
       .slot_life = backend.slot_life,
       .make_sink = [part = part.get(), wrap = std::move(wrap)](
                        const ItemType& type,
                        const core::SinkSettings& settings) -> Result<std::unique_ptr<sink::Sink>> {
         Result<std::unique_ptr<sink::Sink>> made = sink::make_sink(settings, part->sinks_);
         if (!made) return made;
         return wrap(type, settings, std::move(*made));
       },
       .wall = clock,
       .steady = part->steady_},
      log, metrics);
  if (!service) return std::unexpected(std::move(service.error()));
  part->service_ = std::move(*service);
  front::add_dispatch_routes(routes, *part->service_, config.dispatch.context_bytes_max, clock);
  front::add_dispatch_type_routes(routes, *part->service_, clock);
  return part;
}

}  // namespace penstock::app
