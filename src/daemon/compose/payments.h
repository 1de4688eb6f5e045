// Payments as a part of the daemon, around dispatch: what is behind the sink of payments is there
// before the dispatchers begin and goes after they have ended; the service goes before them. It
// tells dispatch of its items by the news alone.
#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/compose/dispatch.h"
#include "daemon/config/config.h"
#include "runtime/metrics.h"
#include "service/item_news.h"
#include "service/payments/payment_execution.h"
#include "service/payments/payment_service.h"
#include "store/backend.h"

namespace penstock::daemon {

class PaymentsPart {
 public:
  // All must outlive this.
  static Result<std::unique_ptr<PaymentsPart>> start(const Config& config,
                                                     const store::Backend& backend,
                                                     service::ItemNews& news, const Clock& clock,
                                                     Log& log, runtime::Metrics& metrics);
  ~PaymentsPart() { stop(); }

  // For the dispatchers, which must not outlive this.
  WrapSink wrap_sink();

  service::PaymentService& service() noexcept { return *service_; }

  // First the service, then (when no dispatcher runs any more) the rest. Idempotent.
  void stop_service();
  void stop();

 private:
  PaymentsPart(const store::Backend& backend, service::ItemNews& news, const Clock& clock, Log& log,
               runtime::Metrics& metrics);

  service::QueueNotifier notifier_;
  service::PaymentExecution execution_;
  std::unique_ptr<service::PaymentService> service_;
};

}  // namespace penstock::daemon
