// Rules that a payment must pass before it is scheduled: limits, blocked accounts, countries. The
// first that matches decides. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/payments/payment.h"

namespace penstock::core {

// Every payment is held against each of them until one matches: a thousand take some microseconds.
inline constexpr std::size_t kPaymentRulesMax = 1'000;
inline constexpr std::size_t kRuleTextBytesMax = 200;  // of a name or a reason

enum class RuleAction : std::uint8_t { reject, hold };

// All that is given must hold; nothing given holds for every payment.
struct PaymentCondition {
  std::string currency;            // empty = any
  std::optional<Threshold> above;  // the amount as a number, in the payment's own currency
  Iban debtor;                     // empty = any
  Iban creditor;                   // empty = any
  std::string country;             // of either account; empty = any

  friend bool operator==(const PaymentCondition&, const PaymentCondition&) = default;
};

struct PaymentRule {
  std::string name;
  PaymentCondition when;
  RuleAction then = RuleAction::reject;
  std::string reason;

  friend bool operator==(const PaymentRule&, const PaymentRule&) = default;
};

using PaymentRules = std::vector<PaymentRule>;

bool matches(const PaymentCondition& when, const PaymentCall& payment) noexcept;

// The rule that decides; null when the payment may go.
const PaymentRule* first_match(const PaymentRules& rules, const PaymentCall& payment) noexcept;

// Refuses too many rules, names twice and texts that are missing or too long; `field` of the error
// is like "[2].name".
Result<void> check_rules(const PaymentRules& rules);

}  // namespace penstock::core
