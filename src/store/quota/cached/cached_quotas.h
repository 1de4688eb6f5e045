// QuotaStore with a cache beside it: a config that is changed is out of the cache before the answer
// leaves, and a count that is shown is the cache's. Everything else is the store's. Thread-safe.
#pragma once

#include "store/quota/cached/cached_gate.h"
#include "store/quota/ports.h"

namespace penstock::store::cached {

class CachedQuotas final : public QuotaStore {
 public:
  // Both must outlive this. `store` keeps what the gate's ledger charges.
  CachedQuotas(QuotaStore& store, CachedGate& gate) : store_(store), gate_(gate) {}

  Result<Quota> put(UserId user, const QuotaRule& rule, std::optional<Instant> now) override;
  Result<std::optional<Quota>> find(UserId user) override;
  Result<bool> remove(UserId user) override;

  std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                      std::optional<Instant> now) override {
    return gate_.charge(charges, now);
  }
  Result<void> give_back(std::span<const GiveBack> charges) override {
    return gate_.give_back(charges);
  }

  std::vector<Result<Sent>> send(std::span<const Send> sends, std::optional<Instant> now) override {
    return store_.send(sends, now);
  }
  Result<void> record(std::span<const UsageDelta> deltas) override { return store_.record(deltas); }
  Result<std::vector<UsagePoint>> usage(UserId user, Instant from, Instant to,
                                        std::size_t limit) override {
    return store_.usage(user, from, to, limit);
  }
  Result<std::vector<LimitedUser>> top_limited(Instant from, Instant to,
                                               std::size_t limit) override {
    return store_.top_limited(from, to, limit);
  }
  Result<QuotaSweep> forget(Instant keys_before, Instant usage_before, std::size_t limit) override {
    return store_.forget(keys_before, usage_before, limit);
  }

 private:
  QuotaStore& store_;
  CachedGate& gate_;
};

}  // namespace penstock::store::cached
