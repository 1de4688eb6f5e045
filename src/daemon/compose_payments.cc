#include "daemon/compose_payments.h"

#include <utility>

#include "service/payments/payment_execution.h"
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
  if (Result<void> able = require_payments(backend); !able) {
    return std::unexpected(std::move(able.error()));
  }
  std::unique_ptr<PaymentsPart> part(new PaymentsPart(backend, news, clock, log, metrics));
  // As dispatch: the embedded store has one writer.
  const std::size_t writers =
      config.dispatch.store == StoreChoice::postgres ? config.postgres.connections : 1;
  part->service_ = PENSTOCK_TRY(
      service::PaymentService::start({.writers = writers, .retention = config.payments.retention},
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
    if (type != store::payment_item_type() || settings.type != core::SinkType::http) return sink;
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
