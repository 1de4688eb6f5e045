#include "core/payments/rules.h"

#include <algorithm>
#include <set>

namespace penstock::core {

bool matches(const PaymentCondition& when, const PaymentCall& payment) noexcept {
  return (when.currency.empty() || when.currency == payment.amount.currency.code) &&
         (!when.above || is_above(payment.amount, *when.above)) &&
         (when.debtor.empty() || when.debtor == payment.debtor) &&
         (when.creditor.empty() || when.creditor == payment.creditor) &&
         (when.country.empty() || when.country == payment.debtor.country() ||
          when.country == payment.creditor.country());
}

const PaymentRule* first_match(const PaymentRules& rules, const PaymentCall& payment) noexcept {
  const auto found =
      std::ranges::find_if(rules, [&](const PaymentRule& r) { return matches(r.when, payment); });
  return found == rules.end() ? nullptr : &*found;
}

Result<void> check_rules(const PaymentRules& rules) {
  if (rules.size() > kPaymentRulesMax) {
    return fail(ErrorKind::invalid,
                "there can be at most " + std::to_string(kPaymentRulesMax) + " rules");
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string place = "[" + std::to_string(i) + "].";
    PENSTOCK_TRY(check_record(describe<PaymentRule>(), &rules[i], place));
    if (!names.insert(rules[i].name).second) {
      return invalid_field(place + "name", "is the name of another rule, too");
    }
  }
  return {};
}

}  // namespace penstock::core

namespace penstock {

std::string Description<core::PaymentCondition>::currency_problem(const FieldValue& value) {
  if (core::currency_of(std::get<std::string>(value))) return {};
  return "must be a code of ISO 4217 in capitals, like EUR";
}

std::string Description<core::PaymentCondition>::country_problem(const FieldValue& value) {
  if (core::has_ibans(std::get<std::string>(value))) return {};
  return "must be the two capitals of a country whose accounts have IBANs";
}

// A bound has no more digits than the currency it is about.
Result<void> Description<core::PaymentCondition>::rule(const When& when) {
  const auto currency = core::currency_of(when.currency);
  if (!when.above || !currency) return {};
  const auto above = core::parse_threshold(core::format_threshold(*when.above), currency->digits);
  if (!above) return invalid_field("amountAbove", above.error().what);
  return {};
}

}  // namespace penstock
