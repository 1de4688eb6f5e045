// Rules that a payment must pass before it is scheduled: limits, blocked accounts, countries. The
// first that matches decides. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
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

namespace penstock {

template <>
struct FieldAs<core::Iban> {
  static constexpr FieldKind kind = FieldKind::text;
  static FieldValue out(const core::Iban& value) { return value.str(); }
  static Result<void> in(core::Iban& to, FieldValue&& value) {
    to = PENSTOCK_TRY(core::Iban::parse(std::get<std::string>(value)));
    return {};
  }
};

template <>
struct FieldAs<core::Threshold> {
  static constexpr FieldKind kind = FieldKind::amount;
  static FieldValue out(const core::Threshold& value) { return core::format_threshold(value); }
  static Result<void> in(core::Threshold& to, FieldValue&& value) {
    to = PENSTOCK_TRY(core::parse_threshold(std::get<std::string>(value)));
    return {};
  }
};

template <>
struct Choices<core::RuleAction> {
  static constexpr std::array<std::string_view, 2> names = {"reject", "hold"};
};

template <>
struct Description<core::PaymentCondition> {
  using When = core::PaymentCondition;

  static std::string currency_problem(const FieldValue& value);
  static std::string country_problem(const FieldValue& value);
  static Result<void> rule(const When& when);

  static constexpr std::string_view name = "PaymentCondition";
  static constexpr std::array fields = {
      sparse(checked(field<&When::currency>("currency", "Of the payment."), currency_problem)),
      sparse(field<&When::above>("amountAbove",
                                 "The amount is more than that, as a number in its currency.")),
      sparse(field<&When::debtor>("debtorIban", "Who pays.")),
      sparse(field<&When::creditor>("creditorIban", "Who is paid.")),
      sparse(
          checked(field<&When::country>("country", "Of the account of either."), country_problem))};
};

template <>
struct Description<core::PaymentRule> {
  using Rule = core::PaymentRule;

  static constexpr std::string_view name = "PaymentRule";
  static constexpr std::array fields = {
      required(range(field<&Rule::name>("name", "What it is called."), 1, core::kRuleTextBytesMax)),
      required(field<&Rule::when>("when", "All that is given must hold; {} is every payment.")),
      required(field<&Rule::then>("then", "What happens to the payment.")),
      required(range(field<&Rule::reason>("reason", "What the payer is told."), 1,
                     core::kRuleTextBytesMax))};
};

}  // namespace penstock
