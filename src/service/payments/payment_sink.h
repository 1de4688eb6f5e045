// A sink around the sink of payments: when the downstream has accepted one, its status is brought
// to PROCESSING before the dispatcher hears of it. A crash in between repeats the hand-over, with
// the same Idempotency-Key, and the steps behind it, which are harmless then.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "service/payments/payment_execution.h"
#include "sink/sink.h"

namespace penstock::service {

class PaymentSink final : public sink::Sink {
 public:
  // `execution` must outlive this.
  PaymentSink(std::unique_ptr<sink::Sink> inner, PaymentExecution& execution)
      : execution_(execution), inner_(std::move(inner)) {}
  ~PaymentSink() override;

  void send(sink::Handover&& item, Done done) override;

 private:
  void finish(sink::SinkAnswer&& answer, AcceptedPayment&& payment, Done&& done);

  PaymentExecution& execution_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t under_way_ = 0;  // guarded by mutex_; accepted, and not answered yet
  std::unique_ptr<sink::Sink> inner_;
};

}  // namespace penstock::service
