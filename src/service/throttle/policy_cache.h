// The policies as this node last saw them, compiled for look-up. Reading takes no lock. Own changes
// count at once, those of others with the next refresh(). Thread-safe.
//
// A store that may forget (store::PolicyRecovery) is not believed when it has less than this node
// knows: what is known stays in force and is written back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/policy/policy.h"
#include "core/policy/policy_set.h"
#include "runtime/snapshot.h"
#include "store/limits/ports.h"

namespace penstock::service {

class PolicyCache {
 public:
  static constexpr Millis kTtl = Seconds{5};              // the predecessor's upper value
  static constexpr Millis kRefreshInterval = Seconds{2};  // leaves most of the TTL for a slow store
  // Refreshes without an own change, half a minute, after which the policies are compiled as a
  // whole for the fastest look-ups. It costs 0.1 s for a hundred thousand, so not after each
  // change.
  static constexpr int kQuietRefreshes = 15;

  // `store` must outlive the cache. `fallback` holds for keys without a policy.
  PolicyCache(store::PolicyStore& store, core::PolicyDraft fallback);

  // What refresh() found missing in the store, and how much of it this node wrote back.
  struct Loss {
    std::size_t missing = 0;
    std::size_t restored = 0;
  };

  // Asks the store whether anything changed, and loads it then; true when it did. Blocks. On an
  // error all stays as it was. `loss` is told of even then; null = nobody wants to know.
  Result<bool> refresh(Loss* loss = nullptr);

  // What this node itself just changed. A refresh() between the change in the store and this call
  // is no harm, but reads everything once more.
  void put(const core::Policy& policy);
  void erase(std::string_view key);

  // Valid until this thread calls current() again.
  const core::PolicySet& current() const { return set_.current(); }
  // For callers whose work goes on on another thread.
  std::shared_ptr<const core::PolicySet> pin() const { return set_.pin(); }

 private:
  using Mark = store::PolicyRecovery::Mark;
  using Policies = std::map<std::string, core::Policy, std::less<>>;

  Result<Mark> ask_mark();
  Result<Policies> load();
  std::vector<core::Policy> missing_in(const Policies& stored) const;  // under mutex_
  std::shared_ptr<const core::PolicySet> compile() const;              // under mutex_
  void settle();                                                       // under mutex_

  store::PolicyStore& store_;
  store::PolicyRecovery* const recovery_;  // null: the store forgets nothing
  const core::Policy fallback_;

  mutable std::mutex mutex_;
  Policies policies_;          // with recovery_ also the ends (deleted); guarded by mutex_
  std::optional<Mark> mark_;   // that the store has if nobody else changed it; guarded by mutex_
  std::uint64_t changes_ = 0;  // own ones; guarded by mutex_
  std::uint64_t changes_settled_ = 0;       // of those, before the last refresh; guarded by mutex_
  int quiet_ = 0;                           // refreshes since then; guarded by mutex_
  runtime::Snapshot<core::PolicySet> set_;  // of policies_; published under mutex_
};

}  // namespace penstock::service
