// Quotas behind a cache, by their ports. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/quota/cache_ports.h"
#include "store/quota/cached/epoch_member.h"
#include "store/quota/ports.h"

namespace penstock::store::cached {

// QuotaGate that charges by a cache what the ledger has charged ahead, and by the ledger itself
// while the cache is away. What is denied costs the ledger nothing. Thread-safe.
class CachedGate final : public QuotaGate {
 public:
  // All must outlive this, `log` unless it is null. `seed`: another one in every life of every
  // node.
  CachedGate(QuotaLedger& ledger, QuotaCache& cache, CacheOptions options, std::uint64_t seed,
             Log* log)
      : ledger_(ledger), cache_(cache), member_(ledger, cache, std::move(options), seed, log) {}

  std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                      std::optional<Instant> now) override;
  // When the cache fails meanwhile, what was not given back stays counted.
  Result<void> give_back(std::span<const GiveBack> charges) override;

  // What all nodes have charged to this user so far is in the ledger when it returns. When the
  // cache fails meanwhile, only what nodes have written down.
  Result<void> look_at(core::UserId user, std::int64_t window);

  EpochMember& member() noexcept { return member_; }

 private:
  struct Part;
  class Batch;

  // What is left needs the ledger, or another try.
  void charge_by_cache(Batch& batch);
  bool ask_cache(Batch& batch, std::vector<Part*>& parts, CacheKey& key);
  void lease_for(Batch& batch, const CacheKey& key, std::span<Part* const> parts);
  void fill(Batch& batch, const CacheKey& key, std::span<QuotaLease> leases,
            const runtime::Stopwatch& leased);
  // Whether there was any progress.
  bool charge_past_cache(Batch& batch);

  QuotaLedger& ledger_;
  QuotaCache& cache_;
  EpochMember member_;
};

// QuotaStore with a cache beside it: a config that is changed is out of the cache before the answer
// leaves, and a count that is shown is the cache's. Everything else is the store's. Thread-safe.
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
