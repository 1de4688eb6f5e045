#include "service/payments/payment_execution.h"

#include <utility>
#include <vector>

#include "base/rng.h"

namespace penstock::service {
namespace {

// One for each payment: a notice that comes again is the same, whenever it comes.
core::BodyDigest digest_of(const PaymentId& id) {
  core::BodyDigest digest{};
  std::uint64_t hash = 0;
  for (const char c : id.str()) hash = mix64(hash ^ static_cast<unsigned char>(c));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(mix64(hash + i));
  }
  return digest;
}

// Hand-overs that wait for their status: as many as all sinks of a type may have under way.
constexpr std::size_t kQueueMax = 4'096;
constexpr std::size_t kBatchMax = 1'000;  // one step of the store stays under 50 ms

// The store is away, or slow: nothing is wrong with the payment, and no attempt is charged to it.
constexpr Millis kStorePause = Seconds{1};

}  // namespace

QueueNotifier::QueueNotifier(store::QueueStore& queue, store::ItemTypeStore& types,
                             const Clock& clock, Log& log, Wake wake)
    : queue_(queue), types_(types), clock_(clock), log_(log), wake_(std::move(wake)) {}

Result<void> QueueNotifier::notify(std::span<const PaymentNotice> notices) {
  if (notices.empty()) return {};
  const auto type = PENSTOCK_TRY(types_.find(notice_item_type()));
  if (!type) {
    for (const PaymentNotice& notice : notices) {
      log_.info("payments.accepted", {{"payment_id", notice.id.str()}, {"answer", notice.answer}});
    }
    return {};
  }
  std::vector<store::NewItem> items;
  items.reserve(notices.size());
  const Instant now = cut_to_millis(clock_.now());
  for (const PaymentNotice& notice : notices) {
    items.push_back({.type = notice_item_type(),
                     .id = ItemId::trusted(notice.id.str()),
                     .due = now,
                     .slot = std::nullopt,
                     .context = R"({"status":"ACCEPTED","payment":)" + notice.payment + "}",
                     .digest = digest_of(notice.id)});
  }
  for (const Result<store::Enqueued>& each : queue_.enqueue(items, std::nullopt)) {
    if (!each) return std::unexpected(each.error());
  }
  wake_(notice_item_type());
  return {};
}

PaymentNotice post_process(const AcceptedPayment& payment) {
  return {.id = payment.id, .answer = payment.answer, .payment = payment.context};
}

PaymentExecution::PaymentExecution(store::PaymentStore& payments, PaymentNotifier& notifier,
                                   Log& log, runtime::Metrics& metrics)
    : payments_(payments),
      notifier_(notifier),
      log_(log),
      accepted_(metrics.counter("payments_executed_total",
                                "Payments that the downstream accepted and that are PROCESSING")),
      failed_(metrics.counter("payments_execution_failures_total",
                              "Batches of accepted payments whose status could not be written")),
      batcher_({.name = "payment-exec", .queue_max = kQueueMax, .batch_max = kBatchMax},
               [this](std::span<AcceptedPayment> batch) { return execute(batch); }) {}

void PaymentExecution::accept(AcceptedPayment&& payment, Done done) {
  std::vector<AcceptedPayment> one;
  one.push_back(std::move(payment));
  decltype(batcher_)::Done answer = [done = std::move(done)](std::vector<Answer> answers) mutable {
    done(std::move(answers.front()));
  };
  if (!batcher_.submit(std::move(one), std::move(answer))) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
    answer({fail(ErrorKind::overloaded, "too many payments wait for their status")});
  }
}

Result<std::vector<store::Advanced>> PaymentExecution::advance(
    std::span<const AcceptedPayment> batch, core::PaymentStatus to) {
  std::vector<store::StatusChange> changes;
  changes.reserve(batch.size());
  for (const AcceptedPayment& payment : batch) {
    const bool first = to == core::PaymentStatus::accepted;
    changes.push_back({.id = payment.id, .to = to, .detail = first ? payment.answer : ""});
  }
  return payments_.advance(changes, std::nullopt);
}

std::vector<PaymentExecution::Answer> PaymentExecution::execute(std::span<AcceptedPayment> batch) {
  const auto all_fail = [&](const Error& error) {
    failed_.add();
    log_.warn("payments.execution_failed", {{"payments", batch.size()}, {"error", error.what}});
    return std::vector<Answer>(batch.size(), std::unexpected(error));
  };
  const Result<std::vector<store::Advanced>> accepted =
      advance(batch, core::PaymentStatus::accepted);
  if (!accepted) return all_fail(accepted.error());
  // Those that are past it were here before, and their hand-over was repeated.
  std::vector<AcceptedPayment> mine;
  std::vector<PaymentNotice> notices;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if ((*accepted)[i].status != core::PaymentStatus::accepted ||
        (*accepted)[i].result == store::AdvanceResult::unknown) {
      continue;
    }
    notices.push_back(post_process(batch[i]));
    mine.push_back(std::move(batch[i]));
  }
  if (!mine.empty()) {
    if (const Result<void> told = notifier_.notify(notices); !told) return all_fail(told.error());
    const auto processing = advance(mine, core::PaymentStatus::processing);
    if (!processing) return all_fail(processing.error());
    accepted_.add(mine.size());
  }
  return std::vector<Answer>(batch.size());
}

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
