// The rules of payments as this node last saw them. Own changes count at once, those of other nodes
// with the next refresh(). Thread-safe; only calls that say so block.
#pragma once

#include <memory>
#include <mutex>

#include "base/result.h"
#include "base/time.h"
#include "store/payments/ports.h"

namespace penstock::service {

class PaymentRuleCache {
 public:
  // A change reaches every node within a second: this leaves the rest for a slow store.
  static constexpr Millis kRefreshInterval{400};

  using Record = std::shared_ptr<const store::PaymentRuleRecord>;

  // `store` must outlive this.
  explicit PaymentRuleCache(store::PaymentRuleStore& store)
      : store_(store), record_(std::make_shared<store::PaymentRuleRecord>()) {}

  // Asks the store whether anything changed, and loads it then. Blocks. On an error all stays as it
  // was.
  Result<void> refresh();
  // Blocks.
  Result<Record> put(const core::PaymentRules& rules);

  Record current() const {
    const std::lock_guard lock(mutex_);
    return record_;
  }

 private:
  Record keep(store::PaymentRuleRecord record);

  store::PaymentRuleStore& store_;
  mutable std::mutex mutex_;
  Record record_;  // guarded by mutex_; never null
};

}  // namespace penstock::service
