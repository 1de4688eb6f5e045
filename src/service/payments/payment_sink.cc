#include "service/payments/payment_sink.h"

#include <utility>

namespace penstock::service {
namespace {

// The store is away, or slow: nothing is wrong with the payment, and no attempt is charged to it.
constexpr Millis kStorePause = Seconds{1};

}  // namespace

PaymentSink::~PaymentSink() {
  inner_.reset();  // answers what it has under way
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ == 0; });
}

void PaymentSink::send(sink::Handover&& item, Done done) {
  AcceptedPayment payment{
      .id = PaymentId::trusted(item.id.str()), .answer = {}, .context = item.context};
  inner_->send(std::move(item), [this, payment = std::move(payment),
                                 done = std::move(done)](sink::SinkAnswer answer) mutable {
    if (answer.outcome != sink::SinkOutcome::done) return done(std::move(answer));
    finish(std::move(answer), std::move(payment), std::move(done));
  });
}

void PaymentSink::finish(sink::SinkAnswer&& answer, AcceptedPayment&& payment, Done&& done) {
  {
    const std::lock_guard lock(mutex_);
    ++under_way_;
  }
  payment.answer = answer.detail;
  execution_.accept(std::move(payment), [this, answer = std::move(answer),
                                         done = std::move(done)](Result<void> executed) mutable {
    if (!executed) {
      answer = {.outcome = sink::SinkOutcome::slow_down,
                .detail = "accepted, but its status could not be written: " + executed.error().what,
                .pause = kStorePause};
    }
    done(std::move(answer));
    const std::lock_guard lock(mutex_);
    --under_way_;
    changed_.notify_all();
  });
}

}  // namespace penstock::service
