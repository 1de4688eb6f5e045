// QuotaCache on Redis: a hash for each user, RateLimiterCache:{userId}, changed by one script. A
// batch is one round trip. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "engine/redis/client.h"
#include "store/quota/cache_ports.h"

namespace penstock::store::redis {

class Quotas final : public QuotaCache {
 public:
  // `client` must outlive this. `deadline` bounds each call.
  Quotas(Client& client, Millis deadline) : client_(client), deadline_(deadline) {}

  Result<std::vector<CacheCharged>> charge(const CacheKey& key,
                                           std::span<const CacheCharge> charges,
                                           std::optional<Instant> now) override;
  Result<std::vector<bool>> fill(const CacheKey& key, std::span<const QuotaLease> leases) override;
  Result<std::vector<CacheCount>> give_back(const CacheKey& key,
                                            std::span<const GiveBack> charges) override;
  Result<void> forget(core::UserId user, std::optional<std::int64_t> window) override;
  Result<void> begin(std::string_view token) override;
  Result<void> probe() override;

 private:
  // What the script of an epoch is called by.
  std::string digest_for(const std::string& token);

  Client& client_;
  const Millis deadline_;
  std::mutex mutex_;
  std::string token_;   // guarded by mutex_; the last one that was asked for
  std::string digest_;  // guarded by mutex_; of token_
};

}  // namespace penstock::store::redis
