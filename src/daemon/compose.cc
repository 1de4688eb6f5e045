#include "daemon/compose.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "daemon/build_commit.h"
#include "daemon/compose_dispatch.h"
#include "daemon/compose_gateway.h"
#include "daemon/compose_intake.h"
#include "daemon/compose_payments.h"
#include "daemon/compose_throttle.h"
#include "daemon/slot_archive.h"
#include "daemon/stores.h"
#include "front/guesses.h"
#include "front/http/console_files.h"
#include "front/http/console_routes.h"
#include "front/http/live_feed.h"
#include "front/http/payment_routes.h"
#include "front/http/server.h"
#include "front/http/slot_routes.h"
#include "front/http/system_routes.h"
#include "front/http/throttle_admin_routes.h"
#include "front/resp/server.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"
#include "runtime/system_clock.h"
#include "runtime/ticker.h"
#include "service/gateway/delivery_log.h"
#include "service/slots/retention_schedule.h"
#include "service/slots/slot_service.h"
#include "store/backend.h"

namespace penstock::daemon {
namespace {

// Every configured feature must find its port, or the daemon does not start.
Result<void> require_slots(const store::Backend& backend) {
  if (backend.slots.store != nullptr && backend.slots.configs != nullptr) return {};
  return fail(ErrorKind::invalid, "the " + backend.name + " store cannot hold slots");
}

std::string format_address(const std::string& host, std::uint16_t port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

class ComposedDaemon final : public Daemon {
 public:
  ComposedDaemon(const Config& config, const Clock& clock, Log& log,
                 std::span<const sink::SinkExtension> extensions)
      : config_(config), clock_(clock), log_(log), extensions_(extensions) {}
  ~ComposedDaemon() override { stop(); }

  Result<void> start() {
    auto stores = Stores::open(config_, clock_, &log_, StoreUse::daemon);
    if (!stores) return std::unexpected(stores.error());
    stores_.emplace(std::move(*stores));
    const store::Backend backend = stores_->slots();
    if (Result<void> able = require_slots(backend); !able) return able;

    slots_ = std::make_unique<service::SlotService>(
        service::SlotServiceOptions{.default_config = config_.slots.default_config_name,
                                    .max_delay = config_.slots.max_delay,
                                    .queue_max = config_.slots.queue_max,
                                    .batch_max = config_.slots.batch_max,
                                    .writers = writers()},
        *backend.slots.store, *backend.slots.configs, clock_, log_, metrics_,
        runtime::random_seed(), backend.slots.changes, backend.slots.life);

    if (Result<void> scheduled = schedule_retention(backend); !scheduled) return scheduled;

    std::vector<front::Route> routes;
    std::vector<front::ReadyCheck> checks;
    for (const store::Backend& each : stores_->needed()) {
      checks.push_back({"store." + each.name,
                        [health = each.health] { return health->check(); },
                        {},
                        [health = each.health] { return health->note(); }});
    }
    front::add_slot_routes(routes, *slots_, clock_);
    front::add_slot_config_routes(routes, *slots_, clock_);
    const store::Backend limits = stores_->throttle();
    front::add_status_route(routes,
                            {.version = PENSTOCK_VERSION,
                             .commit = std::string(build_commit()),
                             .store = limits.name,
                             .check = [health = limits.health] { return health->check(); }});
    auto throttle = ThrottlePart::start(config_.throttle, limits, clock_, log_, metrics_, routes);
    if (!throttle) return std::unexpected(throttle.error());
    throttle_ = std::move(*throttle);
    if (limits.limits.policies->recovery() != nullptr) {
      checks.push_back({.name = "throttle.policies",
                        .check = [] { return Result<void>(); },
                        .warning = [this] { return throttle_->policies_warning(); }});
    }
    payments_ = PENSTOCK_TRY(
        PaymentsPart::start(config_, stores_->dispatch(), news_, clock_, log_, metrics_));
    if (Result<void> able = GatewayPart::check(stores_->dispatch()); !able) return able;
    deliveries_ = std::make_unique<service::DeliveryLog>(
        service::DeliveryLogOptions{.retention = config_.dispatch.id_retention},
        *stores_->dispatch().quota.deliveries, clock_, log_, metrics_,
        stores_->dispatch().retention_clock);
    WrapSink wrap = [payments = payments_->wrap_sink(), messages = GatewayPart::wrap_sink(log_)](
                        const ItemType& type, const core::SinkSettings& settings,
                        std::unique_ptr<sink::Sink> sink) {
      return messages(type, settings, payments(type, settings, std::move(sink)));
    };
    dispatch_ = PENSTOCK_TRY(DispatchPart::start(
        config_, stores_->dispatch(), news_, clock_, log_, metrics_, memory_,
        runtime::random_seed(), std::move(wrap), extensions_, deliveries_.get(), routes, checks));
    front::add_payment_routes(routes, payments_->service(), config_.dispatch.context_bytes_max,
                              clock_);
    gateway_ = PENSTOCK_TRY(GatewayPart::start(config_, stores_->dispatch(), stores_->quota_cache(),
                                               *dispatch_, news_, clock_, log_, metrics_, memory_,
                                               runtime::random_seed(), routes, checks));
    if (Result<void> exported = gateway_->start_export(
            config_.gateway.usage_export, config_.gateway.analytics_retention,
            *stores_->dispatch().quota.usage, std::to_string(runtime::random_seed()), clock_, log_,
            metrics_);
        !exported) {
      return exported;
    }
    auto intake = IntakePart::start(config_,
                                    {.dead_letters = dispatch_->kafka(),
                                     .dispatch = dispatch_->service(),
                                     .payments = payments_->service(),
                                     .memory = memory_},
                                    log_, metrics_, checks);
    if (!intake) return std::unexpected(intake.error());
    intake_ = std::move(*intake);
    feed_.emplace(metrics_, checks, clock_);
    front::add_console_routes(routes, front::console_files());
    front::add_file_routes(routes, front::openapi_files());
    front::add_event_routes(routes, *feed_);
    front::add_system_routes(routes, std::move(checks), metrics_);
    front::add_route_table(routes);
    auto server = front::HttpServer::start(config_.http, std::move(routes), clock_, log_, metrics_,
                                           guesses_, memory_);
    if (!server) return std::unexpected(server.error());
    server_ = std::move(*server);
    feed_->sample();  // what the first second does is then seen to grow
    sampler_ = std::make_unique<runtime::Ticker>("sampler", Seconds{1},
                                                 [this, told = false](const auto&) mutable {
                                                   server_->publish(feed_->sample());
                                                   told = told || tell_damage();
                                                 });
    return start_resp();
  }

  std::string http_address() const override {
    return format_address(config_.http.address, server_->port());
  }

  std::string resp_address() const override {
    return resp_ ? format_address(config_.resp.address, resp_->port()) : "";
  }

  Result<void> renew(const Config& config) override {
    if (Result<void> renewed = server_->renew(config.http); !renewed) return renewed;
    if (resp_) resp_->renew(config.resp.password);
    return {};
  }

  void stop() override {
    if (resp_) resp_->stop();
    if (sampler_) sampler_->stop();
    if (server_) server_->stop();
    if (retention_) retention_->stop();
    if (slots_) slots_->stop();
    if (throttle_) throttle_->stop();
    if (intake_) intake_->stop();
    if (gateway_) gateway_->stop();
    if (payments_) payments_->stop_service();
    if (dispatch_) dispatch_->stop();
    if (payments_) payments_->stop();
    if (deliveries_) deliveries_->stop();
  }

 private:
  // Whether there was something to tell.
  bool tell_damage() {
    bool told = false;
    for (const store::Backend& each : stores_->needed()) {
      const std::string note = each.health->note();
      if (note.empty()) continue;
      log_.error("store.damaged", {{"store", each.name}, {"error", note}});
      told = true;
    }
    return told;
  }

  Result<void> start_resp() {
    if (config_.resp.address.empty()) return {};
    auto server = front::RespServer::start(config_.resp, throttle_->service(), log_, metrics_,
                                           guesses_, memory_);
    if (!server) return std::unexpected(server.error());
    resp_ = std::move(*server);
    return {};
  }

  Result<void> schedule_retention(const store::Backend& backend) {
    if (!config_.slots.keep) return {};
    if (backend.slots.retention == nullptr) {
      return fail(ErrorKind::invalid, "the " + backend.name + " store cannot prune slots");
    }
    retention_ = std::make_unique<service::RetentionSchedule>(
        service::RetentionOptions{.keep = *config_.slots.keep,
                                  .interval = config_.slots.prune_interval},
        *backend.slots.retention, [this] { return archive_sink(); }, clock_, log_, metrics_,
        backend.retention_clock);
    return {};
  }

  // A file of its own for each run; the process id keeps nodes on one folder apart.
  store::SlotRetention::Sink archive_sink() const {
    if (config_.slots.archive_dir.empty()) return nullptr;
    const std::string name =
        fmt::format("slots-{}-{}.ndjson", format_instant(clock_.now()), getpid());
    return [archive = std::make_shared<SlotArchive>(config_.slots.archive_dir / name,
                                                    ExportFormat::ndjson)](
               std::span<const core::Slot> slots) { return archive->add(slots); };
  }

  // The embedded store has one writer; PostgreSQL works on as many batches as it has connections.
  std::size_t writers() const {
    return config_.slots.store == StoreChoice::postgres ? config_.postgres.connections : 1;
  }

  const Config config_;
  const Clock& clock_;
  Log& log_;
  const std::span<const sink::SinkExtension> extensions_;
  runtime::Metrics metrics_;
  front::Guesses guesses_{log_, metrics_};
  runtime::MemoryBudget memory_{config_.memory_max, metrics_};
  std::optional<Stores> stores_;
  std::unique_ptr<service::SlotService> slots_;
  std::unique_ptr<service::RetentionSchedule> retention_;
  std::unique_ptr<ThrottlePart> throttle_;
  service::ItemNews news_;
  std::unique_ptr<PaymentsPart> payments_;            // around dispatch: its sinks use it
  std::unique_ptr<service::DeliveryLog> deliveries_;  // its sinks tell it what became of messages
  std::unique_ptr<DispatchPart> dispatch_;
  std::unique_ptr<IntakePart> intake_;
  std::optional<front::LiveFeed> feed_;
  std::unique_ptr<GatewayPart> gateway_;
  std::unique_ptr<front::HttpServer> server_;
  std::unique_ptr<runtime::Ticker> sampler_;
  std::unique_ptr<front::RespServer> resp_;
};

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(const Config& config, const Clock& clock, Log& log,
                                              std::span<const sink::SinkExtension> extensions) {
  auto daemon = std::make_unique<ComposedDaemon>(config, clock, log, extensions);
  if (Result<void> started = daemon->start(); !started) return std::unexpected(started.error());
  return daemon;
}

}  // namespace penstock::daemon
