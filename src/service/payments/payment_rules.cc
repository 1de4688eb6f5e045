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
  const Result<std::uint64_t> revision = store_.revision();
  if (!revision) return std::unexpected(revision.error());
  if (*revision == current()->revision) return {};
  Result<store::PaymentRuleRecord> record = store_.get();
  if (!record) return std::unexpected(std::move(record.error()));
  keep(std::move(*record));
  return {};
}

Result<PaymentRuleCache::Record> PaymentRuleCache::put(const core::PaymentRules& rules) {
  Result<store::PaymentRuleRecord> record = store_.put(rules, std::nullopt);
  if (!record) return std::unexpected(std::move(record.error()));
  return keep(std::move(*record));
}

}  // namespace penstock::service
