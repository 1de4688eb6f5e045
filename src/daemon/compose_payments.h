// Payments as a part of the daemon, around dispatch: what is behind the sink of payments is there
// before the dispatchers begin and goes after they have ended; the service and its routes come
// after and go before.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/compose_dispatch.h"
#include "daemon/config/config.h"
#include "front/http/http.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatch_service.h"
#include "service/payments/payment_execution.h"
#include "service/payments/payment_notifier.h"
#include "service/payments/payment_service.h"
#include "store/backend.h"

namespace penstock::daemon {

class PaymentsPart {
 public:
  // All must outlive this.
  static Result<std::unique_ptr<PaymentsPart>> start(const store::Backend& backend,
                                                     const Clock& clock, Log& log,
                                                     runtime::Metrics& metrics);
  ~PaymentsPart() { stop(); }

  // For the dispatchers, which must not outlive this.
  WrapSink wrap_sink();

  // `dispatch` must outlive what begins here, and this the routes.
  Result<void> serve(const Config& config, service::DispatchService& dispatch,
                     std::vector<front::Route>& routes);
  service::PaymentService& service() noexcept { return *service_; }  // once it serves

  // First the service, then (when no dispatcher runs any more) the rest. Idempotent.
  void stop_service();
  void stop();

 private:
  PaymentsPart(const store::Backend& backend, const Clock& clock, Log& log,
               runtime::Metrics& metrics);

  const store::Backend backend_;
  const Clock& clock_;
  Log& log_;
  runtime::Metrics& metrics_;
  // Set once dispatch is there; sinks may be at work before.
  std::atomic<service::DispatchService*> dispatch_{nullptr};
  service::QueueNotifier notifier_;
  service::PaymentExecution execution_;
  std::unique_ptr<service::PaymentService> service_;
};

}  // namespace penstock::daemon
