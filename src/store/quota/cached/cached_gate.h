// QuotaGate that charges by a cache what the ledger has charged ahead, and by the ledger itself
// while the cache is away. What is denied costs the ledger nothing. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/quota/cache_ports.h"
#include "store/quota/cached/epoch_member.h"

namespace penstock::store::cached {

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

}  // namespace penstock::store::cached
