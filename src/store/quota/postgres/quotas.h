// QuotaStore on PostgreSQL: a batch of messages is one call of a function, one transaction, with
// its announcement behind it. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/queue/postgres/claim_hints.h"
#include "store/quota/ports.h"

namespace penstock::store::postgres {

class Quotas final : public QuotaStore {
 public:
  // All must outlive this. `pool`: of connections whose commits wait for the disk. `deadline`
  // bounds each call.
  Quotas(Pool& pool, ClaimHints& hints, Millis deadline)
      : pool_(pool), hints_(hints), deadline_(deadline) {}

  Result<Quota> put(UserId user, const QuotaRule& rule, std::optional<Instant> now) override;
  Result<std::optional<Quota>> find(UserId user) override;
  Result<bool> remove(UserId user) override;
  std::vector<Result<Sent>> send(std::span<const Send> sends, std::optional<Instant> now) override;
  std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                      std::optional<Instant> now) override;
  Result<void> give_back(std::span<const GiveBack> charges) override;
  Result<void> record(std::span<const UsageDelta> deltas) override;
  Result<std::vector<UsagePoint>> usage(UserId user, Instant from, Instant to,
                                        std::size_t limit) override;
  Result<std::vector<LimitedUser>> top_limited(Instant from, Instant to,
                                               std::size_t limit) override;
  Result<QuotaSweep> forget(Instant keys_before, Instant usage_before, std::size_t limit) override;

 private:
  DatabaseResult<std::vector<Sent>> send_once(std::span<const Send> sends,
                                              std::optional<Instant> now,
                                              const runtime::Deadline& deadline);
  DatabaseResult<std::vector<Charged>> charge_once(std::span<const Charge> charges,
                                                   std::optional<Instant> now,
                                                   const runtime::Deadline& deadline);

  Pool& pool_;
  ClaimHints& hints_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
