// A ledger and a cache that count what they are asked for, and what they answer. For tests only.
#pragma once

#include <atomic>

#include "store/quota/cache_ports.h"

namespace penstock::store::cached {

class CountingLedger final : public QuotaLedger {
 public:
  explicit CountingLedger(QuotaLedger& ledger) : ledger_(ledger) {}

  std::atomic<std::int64_t> leases{0};   // calls
  std::atomic<std::int64_t> leased{0};   // units
  std::atomic<std::int64_t> charges{0};  // calls
  std::atomic<std::int64_t> charged{0};  // units

  Result<std::vector<QuotaLease>> lease(std::int64_t epoch,
                                        std::span<const QuotaLeaseRequest> requests,
                                        const LeaseSize& size,
                                        std::optional<Instant> now) override {
    ++leases;
    Result<std::vector<QuotaLease>> answers = ledger_.lease(epoch, requests, size, now);
    if (answers) {
      for (const QuotaLease& lease : *answers) leased += lease.to - lease.from;
    }
    return answers;
  }
  Result<std::vector<PastCache>> charge(std::span<const Charge> some,
                                        std::optional<Instant> now) override {
    ++charges;
    Result<std::vector<PastCache>> answers = ledger_.charge(some, now);
    for (std::size_t i = 0; answers && i < answers->size(); ++i) {
      const PastCache& answer = (*answers)[i];
      if (!answer.leased && answer.charged.result == ChargeResult::charged) charged += some[i].cost;
    }
    return answers;
  }
  Result<void> return_lease(std::int64_t epoch, const QuotaLease& lease) override {
    return ledger_.return_lease(epoch, lease);
  }
  Result<void> flow_back(std::int64_t epoch, std::span<const CountSeen> counts) override {
    return ledger_.flow_back(epoch, counts);
  }
  Result<void> give_back(std::span<const GiveBack> some) override {
    return ledger_.give_back(some);
  }
  Result<CacheEpoch> state() override { return ledger_.state(); }
  Result<CacheEpoch> beat(std::string_view node, bool sees, Millis term) override {
    return ledger_.beat(node, sees, term);
  }
  Result<CacheEpoch> close(std::int64_t epoch, std::string_view node) override {
    return ledger_.close(epoch, node);
  }
  Result<CacheEpoch> open(std::int64_t after, std::string_view node, std::string_view token,
                          Millis term) override {
    return ledger_.open(after, node, token, term);
  }
  Result<void> leave(std::string_view node) override { return ledger_.leave(node); }

 private:
  QuotaLedger& ledger_;
};

class CountingCache final : public QuotaCache {
 public:
  explicit CountingCache(QuotaCache& cache) : cache_(cache) {}

  // All in units.
  std::atomic<std::int64_t> charged{0};
  std::atomic<std::int64_t> unanswered{0};  // charges of which nobody knows whether they were made
  std::atomic<std::int64_t> filled{0};

  Result<std::vector<CacheCharged>> charge(const CacheKey& key,
                                           std::span<const CacheCharge> charges,
                                           std::optional<Instant> now) override {
    Result<std::vector<CacheCharged>> answers = cache_.charge(key, charges, now);
    for (std::size_t i = 0; i < charges.size(); ++i) {
      const std::vector<std::int64_t>& costs = charges[i].costs;
      for (std::size_t k = 0; k < costs.size(); ++k) {
        if (!answers) {
          unanswered += costs[k];
        } else if (const auto& decided = (*answers)[i].decided;
                   k < decided.size() && decided[k].result == ChargeResult::charged) {
          charged += costs[k];
        }
      }
    }
    return answers;
  }
  Result<std::vector<bool>> fill(const CacheKey& key, std::span<const QuotaLease> leases) override {
    Result<std::vector<bool>> taken = cache_.fill(key, leases);
    for (std::size_t i = 0; taken && i < leases.size(); ++i) {
      if ((*taken)[i]) filled += leases[i].to - leases[i].from;
    }
    return taken;
  }
  Result<std::vector<CacheCount>> give_back(const CacheKey& key,
                                            std::span<const GiveBack> charges) override {
    return cache_.give_back(key, charges);
  }
  Result<void> forget(core::UserId user, std::optional<std::int64_t> window) override {
    return cache_.forget(user, window);
  }
  Result<void> begin(std::string_view token) override { return cache_.begin(token); }
  Result<void> probe() override { return cache_.probe(); }

 private:
  QuotaCache& cache_;
};

}  // namespace penstock::store::cached
