#include "daemon/compose/daemon.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/export_rows.h"
#include "daemon/compose/dispatch.h"
#include "daemon/compose/gateway.h"
#include "daemon/compose/intake.h"
#include "daemon/compose/payments.h"
#include "daemon/compose/stores.h"
#include "daemon/compose/throttle.h"
#include "front/guesses.h"
#include "front/http/routes/console_files.h"
#include "front/http/routes/live_feed.h"
#include "front/http/routes/routes.h"
#include "front/http/server/server.h"
#include "front/resp/server.h"
#include "runtime/clocks.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "service/gateway/delivery_log.h"
#include "service/slots/retention_schedule.h"
#include "service/slots/slot_service.h"
#include "store/backend.h"

namespace penstock::daemon {
namespace {

std::string format_address(const std::string& host, std::uint16_t port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

class ComposedDaemon final : public Daemon {
 public:
  ComposedDaemon(const Config& config, const Clock& clock, Log& log,
                 std::span<const sink::MakeExtension> extensions)
      : config_(config), clock_(clock), log_(log), extensions_(extensions) {}
  ~ComposedDaemon() override { stop(); }

  Result<void> start() {
    stores_.emplace(PENSTOCK_TRY(Stores::open(config_, clock_, &log_, StoreUse::daemon)));
    const store::Backend backend = stores_->slots();
    PENSTOCK_TRY(require(backend, "hold slots", {backend.slots.store, backend.slots.configs}));

    slots_ = std::make_unique<service::SlotService>(
        service::SlotServiceOptions{.default_config = config_.slots.default_config_name,
                                    .max_delay = config_.slots.max_delay,
                                    .queue_max = config_.slots.queue_max,
                                    .batch_max = config_.slots.batch_max,
                                    .writers = writers_of(config_, config_.slots.store)},
        *backend.slots.store, *backend.slots.configs, clock_, log_, metrics_,
        runtime::random_seed(), backend.slots.changes, backend.slots.life);

    PENSTOCK_TRY(schedule_retention(backend));

    std::vector<front::Route> routes;
    std::vector<front::ReadyCheck> checks;
    for (const store::Backend& each : stores_->needed()) {
      checks.push_back({"store." + each.name,
                        [health = each.health] { return health->check(); },
                        {},
                        [health = each.health] { return health->note(); }});
    }
    front::add_slot_routes(routes, *slots_, clock_);
    const store::Backend limits = stores_->throttle();
    front::add_status_route(routes,
                            {.version = PENSTOCK_VERSION,
                             .commit = std::string(build_commit()),
                             .store = limits.name,
                             .check = [health = limits.health] { return health->check(); }});
    throttle_ =
        PENSTOCK_TRY(ThrottlePart::start(config_.throttle, limits, clock_, log_, metrics_, routes));
    if (limits.limits.policies->recovery() != nullptr) {
      checks.push_back({.name = "throttle.policies",
                        .check = [] { return Result<void>(); },
                        .warning = [this] { return throttle_->policies_warning(); }});
    }
    payments_ = PENSTOCK_TRY(
        PaymentsPart::start(config_, stores_->dispatch(), news_, clock_, log_, metrics_));
    PENSTOCK_TRY(GatewayPart::check(stores_->dispatch()));
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
    PENSTOCK_TRY(
        gateway_->start_export(config_.gateway.usage_export, config_.gateway.analytics_retention,
                               *stores_->dispatch().quota.usage,
                               std::to_string(runtime::random_seed()), clock_, log_, metrics_));
    intake_ = PENSTOCK_TRY(IntakePart::start(config_,
                                             {.dead_letters = dispatch_->kafka(),
                                              .dispatch = dispatch_->service(),
                                              .payments = payments_->service(),
                                              .memory = memory_},
                                             log_, metrics_, checks));
    feed_.emplace(metrics_, checks, clock_);
    front::add_console_routes(routes, front::console_files(), clock_);
    front::add_description_routes(routes, front::openapi_files());
    front::add_event_routes(routes, *feed_);
    front::add_health_routes(routes, std::move(checks), metrics_);
    front::add_table_route(routes);
    PENSTOCK_TRY(front::check_routes(routes));
    server_ = PENSTOCK_TRY(front::HttpServer::start(config_.http, std::move(routes), clock_, log_,
                                                    metrics_, guesses_, memory_));
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
    PENSTOCK_TRY(server_->renew(config.http));
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
    resp_ = PENSTOCK_TRY(front::RespServer::start(config_.resp, throttle_->service(), log_,
                                                  metrics_, guesses_, memory_));
    return {};
  }

  Result<void> schedule_retention(const store::Backend& backend) {
    if (!config_.slots.keep) return {};
    PENSTOCK_TRY(require(backend, "prune slots", {backend.slots.retention}));
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

  const Config config_;
  const Clock& clock_;
  Log& log_;
  const std::span<const sink::MakeExtension> extensions_;
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
                                              std::span<const sink::MakeExtension> extensions) {
  auto daemon = std::make_unique<ComposedDaemon>(config, clock, log, extensions);
  PENSTOCK_TRY(daemon->start());
  return daemon;
}

}  // namespace penstock::daemon
