#include "daemon/compose_payments.h"

#include <utility>

#include "front/http/payment_routes.h"
#include "service/payments/payment_sink.h"
#include "wire/payments.h"

namespace penstock::daemon {
namespace {

Result<void> require_payments(const store::Backend& backend) {
  if (backend.payments.store != nullptr && backend.payments.rules != nullptr &&
      backend.queue.store != nullptr && backend.queue.types != nullptr) {
    return {};
  }
  return fail(ErrorKind::invalid, "the " + backend.name + " store cannot hold payments");
}

}  // namespace

PaymentsPart::PaymentsPart(const store::Backend& backend, const Clock& clock, Log& log,
                           runtime::Metrics& metrics)
    : backend_(backend),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      notifier_(*backend_.queue.store, *backend_.queue.types, clock, log,
                [this](const ItemType& type) {
                  if (service::DispatchService* dispatch = dispatch_) dispatch->wake(type);
                }),
      execution_(*backend_.payments.store, notifier_, log, metrics) {}

Result<std::unique_ptr<PaymentsPart>> PaymentsPart::start(const store::Backend& backend,
                                                          const Clock& clock, Log& log,
                                                          runtime::Metrics& metrics) {
  if (Result<void> able = require_payments(backend); !able) {
    return std::unexpected(std::move(able.error()));
  }
  return std::unique_ptr<PaymentsPart>(new PaymentsPart(backend, clock, log, metrics));
}

WrapSink PaymentsPart::wrap_sink() {
  return [this](const ItemType& type, const core::SinkSettings& settings,
                std::unique_ptr<sink::Sink> sink) -> std::unique_ptr<sink::Sink> {
    // Elsewhere the executor itself reports what became of a payment.
    if (type != store::payment_item_type() || settings.type != core::SinkType::http) return sink;
    return std::make_unique<service::PaymentSink>(std::move(sink), execution_);
  };
}

Result<void> PaymentsPart::serve(const Config& config, service::DispatchService& dispatch,
                                 std::vector<front::Route>& routes) {
  dispatch_ = &dispatch;
  // As dispatch: the embedded store has one writer.
  const std::size_t writers =
      config.dispatch.store == StoreChoice::postgres ? config.postgres.connections : 1;
  auto service = service::PaymentService::start(
      {.writers = writers, .retention = config.payments.retention},
      {.payments = *backend_.payments.store,
       .rules = *backend_.payments.rules,
       .queue = *backend_.queue.store,
       .types = *backend_.queue.types,
       .clock = clock_,
       .wake = [&dispatch] { dispatch.wake(store::payment_item_type()); },
       .format = {.body = wire::encode_payment_body,
                  .context = wire::encode_payment_context,
                  .read_body = wire::decode_payment_body},
       .retention_clock = backend_.retention_clock},
      log_, metrics_);
  if (!service) return std::unexpected(std::move(service.error()));
  service_ = std::move(*service);
  front::add_payment_routes(routes, *service_, config.dispatch.context_bytes_max, clock_);
  return {};
}

void PaymentsPart::stop_service() {
  if (service_) service_->stop();
}

void PaymentsPart::stop() {
  stop_service();
  execution_.stop();
}

}  // namespace penstock::daemon
