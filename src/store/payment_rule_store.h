// Port: the rules of payments, one list that is replaced as a whole. Blocking; thread-safe; durable
// when it returns.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "core/payments/rules.h"

namespace penstock::store {

struct PaymentRuleRecord {
  std::uint64_t revision = 0;  // grows with every change; 0 = there never was one
  core::PaymentRules rules;
  Instant changed{};
};

class PaymentRuleStore {
 public:
  PaymentRuleStore() = default;
  PaymentRuleStore(const PaymentRuleStore&) = delete;
  PaymentRuleStore& operator=(const PaymentRuleStore&) = delete;
  virtual ~PaymentRuleStore() = default;

  virtual Result<PaymentRuleRecord> put(const core::PaymentRules& rules,
                                        std::optional<Instant> now) = 0;
  virtual Result<PaymentRuleRecord> get() = 0;
  // A cheap way to learn that a copy is still good.
  virtual Result<std::uint64_t> revision() = 0;
};

}  // namespace penstock::store
