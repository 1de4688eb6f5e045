#include "service/payments/payment_execution.h"

#include <utility>

namespace penstock::service {
namespace {

// Hand-overs that wait for their status: as many as all sinks of a type may have under way.
constexpr std::size_t kQueueMax = 4'096;
constexpr std::size_t kBatchMax = 1'000;  // one step of the store stays under 50 ms

}  // namespace

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

}  // namespace penstock::service
