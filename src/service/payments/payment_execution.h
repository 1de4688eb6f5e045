// What happens to payments once the downstream has accepted them: ACCEPTED, post-processing and
// notification, PROCESSING. Batched; every step may be repeated after a crash and does no harm
// then. Thread-safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "service/payments/payment_notifier.h"
#include "store/payments/ports.h"

namespace penstock::service {

struct AcceptedPayment {
  PaymentId id;
  std::string answer;   // what the downstream said
  std::string context;  // JSON that it was executed with
};

class PaymentExecution {
 public:
  using Done = std::move_only_function<void(Result<void>)>;

  // All must outlive this.
  PaymentExecution(store::PaymentStore& payments, PaymentNotifier& notifier, Log& log,
                   runtime::Metrics& metrics);
  ~PaymentExecution() { stop(); }

  // Returns at once; `done` comes when the payment is PROCESSING, on a thread of this, or at once
  // with `overloaded`. An item that belongs to no payment is nobody's business here: it is done.
  void accept(AcceptedPayment&& payment, Done done);

  // Finishes what was taken. Idempotent.
  void stop() { batcher_.stop(); }

 private:
  using Answer = Result<void>;

  std::vector<Answer> execute(std::span<AcceptedPayment> batch);
  Result<std::vector<store::Advanced>> advance(std::span<const AcceptedPayment> batch,
                                               core::PaymentStatus to);

  store::PaymentStore& payments_;
  PaymentNotifier& notifier_;
  Log& log_;
  runtime::Counter& accepted_;
  runtime::Counter& failed_;
  runtime::Batcher<AcceptedPayment, Answer> batcher_;  // last: its thread uses all of the above
};

// A payment that was accepted, as those see it who want to know. Pure.
PaymentNotice post_process(const AcceptedPayment& payment);

}  // namespace penstock::service
