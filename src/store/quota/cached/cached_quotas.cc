#include "store/quota/cached/cached_quotas.h"

#include <utility>

namespace penstock::store::cached {

// Twice: a crash between the change and the second leaves no old entry that goes on being charged.
Result<Quota> CachedQuotas::put(UserId user, const QuotaRule& rule, std::optional<Instant> now) {
  if (Result<void> out = gate_.member().block(user); !out) {
    return std::unexpected(std::move(out.error()));
  }
  Result<Quota> put = store_.put(user, rule, now);
  if (!put) return put;
  const std::int64_t window = put->refreshed.time_since_epoch().count();
  if (Result<void> out = gate_.member().forget(user, window); !out) {
    return std::unexpected(std::move(out.error()));
  }
  return put;
}

Result<std::optional<Quota>> CachedQuotas::find(UserId user) {
  Result<std::optional<Quota>> found = store_.find(user);
  if (!found || !*found) return found;
  const std::int64_t window = (*found)->refreshed.time_since_epoch().count();
  if (Result<void> seen = gate_.look_at(user, window); !seen) {
    return std::unexpected(std::move(seen.error()));
  }
  return store_.find(user);
}

Result<bool> CachedQuotas::remove(UserId user) {
  if (Result<void> out = gate_.member().block(user); !out) {
    return std::unexpected(std::move(out.error()));
  }
  Result<bool> removed = store_.remove(user);
  if (!removed) return removed;
  if (Result<void> out = gate_.member().forget(user, std::nullopt); !out) {
    return std::unexpected(std::move(out.error()));
  }
  return removed;
}

}  // namespace penstock::store::cached
