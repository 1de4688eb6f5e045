// The policies as this node last saw them, compiled for look-up. Reading takes no lock. Own changes
// count at once, those of others with the next refresh(). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/policy/policy.h"
#include "core/policy/policy_set.h"
#include "runtime/snapshot.h"
#include "store/policy_store.h"

namespace penstock::service {

class PolicyCache {
 public:
  static constexpr Millis kTtl = Seconds{5};              // the predecessor's upper value
  static constexpr Millis kRefreshInterval = Seconds{2};  // leaves most of the TTL for a slow store

  // `store` must outlive the cache. `fallback` holds for keys without a policy.
  PolicyCache(store::PolicyStore& store, core::PolicyDraft fallback);

  // Asks the store whether anything changed, and loads it then; true when it did. Blocks. On an
  // error all stays as it was.
  Result<bool> refresh();

  // What this node itself just changed.
  void put(const core::Policy& policy);
  void erase(std::string_view key);

  // Valid until this thread calls current() again.
  const core::PolicySet& current() const { return set_.current(); }
  // For callers whose work goes on on another thread.
  std::shared_ptr<const core::PolicySet> pin() const { return set_.pin(); }

 private:
  using Policies = std::map<std::string, core::Policy, std::less<>>;

  Result<Policies> load();
  std::shared_ptr<const core::PolicySet> compile() const;  // under mutex_

  store::PolicyStore& store_;
  const core::Policy fallback_;

  mutable std::mutex mutex_;
  Policies policies_;                       // guarded by mutex_
  std::optional<std::uint64_t> revision_;   // of policies_; guarded by mutex_
  std::uint64_t changes_ = 0;               // own ones; guarded by mutex_
  runtime::Snapshot<core::PolicySet> set_;  // of policies_; published under mutex_
};

}  // namespace penstock::service
