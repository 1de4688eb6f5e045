// PaymentStore and PaymentRuleStore on the engine. Safe on any thread: what changes payments takes
// the writer's mutex for one step, the rest only reads.
#pragma once

#include "store/embedded/writer.h"
#include "store/payments/embedded/payment_encoding.h"
#include "store/payments/ports.h"
#include "store/queue/embedded/enqueue_batch.h"

namespace penstock::store::embedded {

class EmbeddedPayments final : public PaymentStore {
 public:
  explicit EmbeddedPayments(Writer& writer) : writer_(writer), enqueue_(writer) {}

  std::vector<Result<TakenPayment>> take(std::span<const NewPayment> payments,
                                         std::optional<Instant> now) override;
  Result<std::vector<Advanced>> advance(std::span<const StatusChange> changes,
                                        std::optional<Instant> now) override;
  Result<void> release(const NewPayment& payment, std::optional<Instant> now) override;
  Result<std::optional<PaymentRecord>> find(const PaymentId& id) override;
  Result<PaymentPage> list(std::optional<PaymentStatus> status, const PaymentId& after,
                           std::size_t limit) override;
  Result<PaymentSweep> forget(Instant before, const PaymentPlace& from, std::size_t limit) override;

 private:
  Result<PaymentPage> list_indexed(const Engine::View& view, PaymentStatus status,
                                   const PaymentId& after, std::size_t limit) const;
  Result<PaymentPage> list_walking(const Engine::View& view, std::optional<PaymentStatus> status,
                                   const PaymentId& after, std::size_t limit) const;
  Result<PaymentRow> row_of(const Engine::View& view, PaymentId id, PaymentEntry&& entry) const;

  Writer& writer_;
  EnqueueBatch enqueue_;  // guarded by writer_.mutex
};

class EmbeddedPaymentRules final : public PaymentRuleStore {
 public:
  explicit EmbeddedPaymentRules(Writer& writer) : writer_(writer) {}

  Result<PaymentRuleRecord> put(const core::PaymentRules& rules,
                                std::optional<Instant> now) override;
  Result<PaymentRuleRecord> get() override;
  Result<std::uint64_t> revision() override;

 private:
  Writer& writer_;
};

}  // namespace penstock::store::embedded
