#include "service/payments/payment_rules.h"

#include <utility>

namespace penstock::service {

PaymentRuleCache::Record PaymentRuleCache::keep(store::PaymentRuleRecord record) {
  const std::lock_guard lock(mutex_);
  // A refresh may bring what was read before an own change.
  if (record.revision > record_->revision) {
    record_ = std::make_shared<const store::PaymentRuleRecord>(std::move(record));
  }
  return record_;
}

Result<void> PaymentRuleCache::refresh() {
  const std::uint64_t revision = PENSTOCK_TRY(store_.revision());
  if (revision == current()->revision) return {};
  store::PaymentRuleRecord record = PENSTOCK_TRY(store_.get());
  keep(std::move(record));
  return {};
}

Result<PaymentRuleCache::Record> PaymentRuleCache::put(const core::PaymentRules& rules) {
  store::PaymentRuleRecord record = PENSTOCK_TRY(store_.put(rules, std::nullopt));
  return keep(std::move(record));
}

}  // namespace penstock::service
