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
    const auto bad_text = [](const std::string& text) {
      return text.empty() || text.size() > kRuleTextBytesMax;
    };
    if (bad_text(rules[i].name)) {
      return invalid_field(place + "name", "must be a text of 1 to 200 bytes");
    }
    if (bad_text(rules[i].reason)) {
      return invalid_field(place + "reason", "must be a text of 1 to 200 bytes");
    }
    if (!names.insert(rules[i].name).second) {
      return invalid_field(place + "name", "is the name of another rule, too");
    }
  }
  return {};
}

}  // namespace penstock::core
