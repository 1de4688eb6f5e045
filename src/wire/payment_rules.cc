// The rules of payments as JSON.
#include <string>
#include <utility>

#include "wire/json_fields.h"
#include "wire/payments.h"

namespace penstock::wire {
namespace {

// Where in the array a problem stands: "[2].when.country".
Error placed(Error error, std::string_view where) {
  if (error.field.empty()) {
    error.what = std::string(where) + ": " + error.what;
    error.field = where;
  } else {
    error.what = std::string(where) + "." + error.what;
    error.field = std::string(where) + "." + error.field;
  }
  return error;
}

// A decimal as a text, as amounts are, or as a number.
void read_threshold(JsonValue when, JsonFields& fields, core::PaymentCondition& to) {
  const JsonValue value = when.find("amountAbove");
  if (!value || value.is_null()) return;
  if (value.type() != JsonType::string && value.type() != JsonType::number) {
    return fields.problem("amountAbove", "must be a decimal like \"10000.00\"");
  }
  const auto currency = core::currency_of(to.currency);
  const int digits = currency ? currency->digits : core::kFractionDigitsMax;
  const Result<core::Threshold> above = core::parse_threshold(
      value.type() == JsonType::string ? value.string() : value.raw(), digits);
  if (!above) return fields.problem("amountAbove", above.error().what);
  to.above = *above;
}

void read_iban(std::string_view name, JsonFields& fields, core::Iban& to) {
  const auto text = fields.optional_string(name);
  if (!text) return;
  Result<core::Iban> iban = core::Iban::parse(*text);
  if (!iban) return fields.problem(name, iban.error().what);
  to = std::move(*iban);
}

Result<core::PaymentCondition> decode_condition(JsonValue when) {
  JsonFields fields(when);
  core::PaymentCondition condition;
  condition.currency = fields.optional_string("currency").value_or("");
  if (!condition.currency.empty() && !core::currency_of(condition.currency)) {
    fields.problem("currency", "must be a code of ISO 4217 in capitals, like EUR");
  }
  if (!fields.error()) read_threshold(when, fields, condition);
  read_iban("debtorIban", fields, condition.debtor);
  read_iban("creditorIban", fields, condition.creditor);
  condition.country = fields.optional_string("country").value_or("");
  if (!condition.country.empty() && !core::has_ibans(condition.country)) {
    fields.problem("country", "must be the two capitals of a country whose accounts have IBANs");
  }
  if (fields.error()) return std::unexpected(*fields.error());
  return condition;
}

Result<core::PaymentRule> decode_rule(JsonValue value) {
  JsonFields fields(value);
  core::PaymentRule rule{.name = std::string(fields.required_string("name")),
                         .when = {},
                         .then = core::RuleAction::reject,
                         .reason = {}};
  const std::string_view then = fields.required_string("then");
  if (then == "hold") {
    rule.then = core::RuleAction::hold;
  } else if (then != "reject") {
    fields.problem("then", "must be reject or hold");
  }
  rule.reason = fields.required_string("reason");
  const std::optional<JsonValue> when = fields.optional_object("when");
  if (!when) fields.problem("when", "is required; {} is every payment");
  if (fields.error()) return std::unexpected(*fields.error());
  Result<core::PaymentCondition> condition = decode_condition(*when);
  if (!condition) return std::unexpected(placed(std::move(condition.error()), "when"));
  rule.when = std::move(*condition);
  return rule;
}

void encode_rule(JsonWriter& out, const core::PaymentRule& rule) {
  const core::PaymentCondition& when = rule.when;
  out.begin_object().member("name", rule.name).key("when").begin_object();
  if (!when.currency.empty()) out.member("currency", when.currency);
  if (when.above) out.member("amountAbove", core::format_threshold(*when.above));
  if (!when.debtor.empty()) out.member("debtorIban", when.debtor.str());
  if (!when.creditor.empty()) out.member("creditorIban", when.creditor.str());
  if (!when.country.empty()) out.member("country", when.country);
  out.end_object()
      .member("then", rule.then == core::RuleAction::hold ? "hold" : "reject")
      .member("reason", rule.reason)
      .end_object();
}

}  // namespace

Result<core::PaymentRules> decode_payment_rules(JsonValue value) {
  if (value.type() != JsonType::array) {
    return fail(ErrorKind::invalid,
                "the request must be an array, not " + std::string(to_string(value.type())));
  }
  core::PaymentRules rules;
  for (JsonValue each = value.first(); each; each = each.next()) {
    Result<core::PaymentRule> rule = decode_rule(each);
    if (!rule) {
      return std::unexpected(
          placed(std::move(rule.error()), "[" + std::to_string(rules.size()) + "]"));
    }
    rules.push_back(std::move(*rule));
    if (rules.size() > core::kPaymentRulesMax) break;  // check_rules says so
  }
  if (Result<void> checked = core::check_rules(rules); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return rules;
}

std::string encode_payment_rules(const core::PaymentRules& rules) {
  JsonWriter out(rules.size() * 160 + 16);
  out.begin_array();
  for (const core::PaymentRule& rule : rules) encode_rule(out, rule);
  out.end_array();
  return std::move(out).take();
}

}  // namespace penstock::wire
