// What happens to a payment that the downstream has accepted: its sink says so, the execution
// brings it from ACCEPTED to PROCESSING, and whoever wants to know is told in between. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "sink/sink.h"
#include "store/payments/ports.h"
#include "store/queue/ports.h"

namespace penstock::service {

inline const ItemType& notice_item_type() {
  static const ItemType type = ItemType::trusted("PAYMENT_NOTICE");
  return type;
}

// What post-processing makes of a payment that the downstream has accepted.
struct PaymentNotice {
  PaymentId id;
  std::string answer;   // what the downstream said: "HTTP 200"
  std::string payment;  // JSON: the context that it was executed with
};

// Who is told that a payment was accepted. The execution knows this interface and nothing of what
// stands behind it.
class PaymentNotifier {
 public:
  PaymentNotifier() = default;
  PaymentNotifier(const PaymentNotifier&) = delete;
  PaymentNotifier& operator=(const PaymentNotifier&) = delete;
  virtual ~PaymentNotifier() = default;

  // Blocks. All of them, or an error; after an error, or a crash, they come again: the same notice
  // twice must do no harm.
  virtual Result<void> notify(std::span<const PaymentNotice> notices) = 0;
};

// An item of type PAYMENT_NOTICE for each, with the payment's id, where such a type is set up: it
// is then delivered, paced and retried as any item. A line in the log where it is not. Thread-safe.
class QueueNotifier final : public PaymentNotifier {
 public:
  using Wake = std::function<void(const ItemType&)>;

  // All must outlive this. `wake` is told when there are new items.
  QueueNotifier(store::QueueStore& queue, store::ItemTypeStore& types, const Clock& clock, Log& log,
                Wake wake);

  Result<void> notify(std::span<const PaymentNotice> notices) override;

 private:
  store::QueueStore& queue_;
  store::ItemTypeStore& types_;
  const Clock& clock_;
  Log& log_;
  const Wake wake_;
};

struct AcceptedPayment {
  PaymentId id;
  std::string answer;   // what the downstream said
  std::string context;  // JSON that it was executed with
};

// ACCEPTED, post-processing and notification, PROCESSING. Batched; every step may be repeated after
// a crash and does no harm then.
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

// A sink around the sink of payments: when the downstream has accepted one, its status is brought
// to PROCESSING before the dispatcher hears of it. A crash in between repeats the hand-over, with
// the same Idempotency-Key, and the steps behind it, which are harmless then.
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
