// A ledger that counts what it is asked for. For tests only.
#pragma once

#include <atomic>

#include "store/quota/cache_ports.h"

namespace penstock::store::cached {

class CountingLedger final : public QuotaLedger {
 public:
  explicit CountingLedger(QuotaLedger& ledger) : ledger_(ledger) {}

  std::atomic<std::int64_t> leases{0};
  std::atomic<std::int64_t> charges{0};

  Result<std::vector<QuotaLease>> lease(std::int64_t epoch,
                                        std::span<const QuotaLeaseRequest> requests,
                                        const LeaseSize& size,
                                        std::optional<Instant> now) override {
    ++leases;
    return ledger_.lease(epoch, requests, size, now);
  }
  Result<std::vector<PastCache>> charge(std::span<const Charge> some,
                                        std::optional<Instant> now) override {
    ++charges;
    return ledger_.charge(some, now);
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

}  // namespace penstock::store::cached
