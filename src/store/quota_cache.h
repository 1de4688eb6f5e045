// Port: counts of quotas in a shared cache, which may lose them, or come back with old ones, at any
// moment: then every call of an epoch that it does not know any more fails. Any failure may have
// happened after the deed. Implementations are blocking, with a deadline of their own, and safe to
// call from several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/gateway/quota.h"
#include "store/quota_ledger.h"

namespace penstock::store {

// An epoch as the cache needs it.
struct CacheKey {
  std::int64_t epoch = 0;
  std::string token;
};

// Charges of one user, in order.
struct CacheCharge {
  core::UserId user;
  std::vector<std::int64_t> costs;
};

struct CacheCharged {
  std::vector<Charged> decided;  // of the first costs; what is left needs a lease
  bool blocked = false;          // nothing of this user is to be put here now
  // After something was taken:
  bool changed = false;
  std::int64_t count = 0;
  std::int64_t version = 0;
};

struct CacheCount {
  bool there = false;  // an entry of that window
  std::int64_t count = 0;
  std::int64_t version = 0;
};

class QuotaCache {
 public:
  QuotaCache() = default;
  QuotaCache(const QuotaCache&) = delete;
  QuotaCache& operator=(const QuotaCache&) = delete;
  virtual ~QuotaCache() = default;

  // For users that are named once each. One failure fails the call. `now` as QuotaGate::charge's.
  virtual Result<std::vector<CacheCharged>> charge(const CacheKey& key,
                                                   std::span<const CacheCharge> charges,
                                                   std::optional<Instant> now) = 0;
  // Whether each lease was taken: not one older than what is there or was forgotten. Each lease
  // once.
  virtual Result<std::vector<bool>> fill(const CacheKey& key,
                                         std::span<const QuotaLease> leases) = 0;
  // For users that are named once each; `count` is given back.
  virtual Result<std::vector<CacheCount>> give_back(const CacheKey& key,
                                                    std::span<const GiveBack> charges) = 0;

  // The entry goes, and nothing of a window before `window` comes back. Empty: nothing at all for a
  // moment, while its config is changed.
  virtual Result<void> forget(core::UserId user, std::optional<std::int64_t> window) = 0;

  // Makes the cache know an epoch by `token`, which it forgets with its data.
  virtual Result<void> begin(std::string_view token) = 0;
  // Whether all of it can be reached.
  virtual Result<void> probe() = 0;
};

}  // namespace penstock::store
