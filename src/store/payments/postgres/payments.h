// PaymentStore and PaymentRuleStore on PostgreSQL: each call is one round trip. Thread-safe; calls
// run in parallel as far as the pool has connections.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/postgres/doubt.h"
#include "engine/postgres/pool.h"
#include "store/payments/ports.h"
#include "store/queue/postgres/claim_hints.h"

namespace penstock::store::postgres {

class Payments final : public PaymentStore {
 public:
  // All must outlive this. `pool`: of connections whose commits wait for the disk. `deadline`
  // bounds each call.
  Payments(Pool& pool, ClaimHints& hints, Millis deadline)
      : pool_(pool), hints_(hints), deadline_(deadline) {}

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
  using Places = std::vector<std::size_t>;  // into the batch
  // They stand where the payments do, for the first of each id.
  struct Answers {
    std::vector<Result<TakenPayment>> answers;
    std::vector<core::BodyDigest> stored;  // of the body that is there
  };

  // `firsts`: the first payment of each id, ascending.
  DatabaseResult<Answers> take_once(std::span<const NewPayment> payments, const Places& firsts,
                                    bool trusted, std::optional<Instant> now,
                                    const runtime::Deadline& deadline);

  Pool& pool_;
  ClaimHints& hints_;
  const Millis deadline_;
  Doubt doubt_;
};

class PaymentRuleTable final : public PaymentRuleStore {
 public:
  PaymentRuleTable(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<PaymentRuleRecord> put(const core::PaymentRules& rules,
                                std::optional<Instant> now) override;
  Result<PaymentRuleRecord> get() override;
  Result<std::uint64_t> revision() override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
