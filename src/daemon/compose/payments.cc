#include "daemon/compose/payments.h"

#include <utility>

#include "daemon/compose/stores.h"
#include "service/payments/payment_execution.h"
#include "wire/payments.h"

namespace penstock::daemon {

PaymentsPart::PaymentsPart(const store::Backend& backend, service::ItemNews& news,
                           const Clock& clock, Log& log, runtime::Metrics& metrics)
    : notifier_(*backend.queue.store, *backend.queue.types, clock, log,
                [&news](const ItemType& type) { news.tell(type); }),
      execution_(*backend.payments.store, notifier_, log, metrics) {}

Result<std::unique_ptr<PaymentsPart>> PaymentsPart::start(const Config& config,
                                                          const store::Backend& backend,
                                                          service::ItemNews& news,
                                                          const Clock& clock, Log& log,
                                                          runtime::Metrics& metrics) {
  PENSTOCK_TRY(require(
      backend, "hold payments",
      {backend.payments.store, backend.payments.rules, backend.queue.store, backend.queue.types}));
  std::unique_ptr<PaymentsPart> part(new PaymentsPart(backend, news, clock, log, metrics));
  part->service_ = PENSTOCK_TRY(
      service::PaymentService::start({.writers = writers_of(config, config.dispatch.store),
                                      .retention = config.payments.retention},
                                     {.payments = *backend.payments.store,
                                      .rules = *backend.payments.rules,
                                      .queue = *backend.queue.store,
                                      .types = *backend.queue.types,
                                      .clock = clock,
                                      .wake = [&news] { news.tell(store::payment_item_type()); },
                                      .format = {.body = wire::encode_payment_body,
                                                 .context = wire::encode_payment_context,
                                                 .read_body = wire::decode_payment_body},
                                      .retention_clock = backend.retention_clock},
                                     log, metrics));
  return part;
}

WrapSink PaymentsPart::wrap_sink() {
  return [this](const ItemType& type, const core::SinkSettings& settings,
                std::unique_ptr<sink::Sink> sink) -> std::unique_ptr<sink::Sink> {
    // Elsewhere the executor itself reports what became of a payment.
    if (type != store::payment_item_type() || settings.kind != "http") return sink;
    return std::make_unique<service::PaymentSink>(std::move(sink), execution_);
  };
}

void PaymentsPart::stop_service() {
  if (service_) service_->stop();
}

void PaymentsPart::stop() {
  stop_service();
  execution_.stop();
}

}  // namespace penstock::daemon
