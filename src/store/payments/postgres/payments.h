// PaymentStore and PaymentRuleStore on PostgreSQL: each call is one round trip. Thread-safe; calls
// run in parallel as far as the pool has connections.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/postgres/connection.h"
#include "engine/sql/doubt.h"
#include "store/payments/ports.h"
#include "store/queue/postgres/claim_hints.h"

namespace penstock::store::postgres {

class Payments final : public PaymentStore {
 public:
  // `hints` must outlive this. `database`: of connections whose commits wait for the disk.
  Payments(Database database, ClaimHints& hints) : database_(database), hints_(hints) {}

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
                                    LookUp look_up, std::optional<Instant> now,
                                    const runtime::Deadline& deadline);

  Database database_;
  ClaimHints& hints_;
  Doubt doubt_;
};

// Every version of the rules is a row.
std::unique_ptr<PaymentRuleStore> make_payment_rules(Database database);

}  // namespace penstock::store::postgres
