#include "tool/commands/payment_views.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace penstock::tool {
namespace {

using wire::JsonType;
using wire::JsonValue;

// A member as text, empty when it is not there.
std::string field_or_empty(JsonValue object, std::string_view name) {
  if (!object || object.type() != JsonType::object) return "";
  const JsonValue member = object.find(name);
  if (!member || member.is_null()) return "";
  return std::string(member.type() == JsonType::string ? member.string() : member.raw());
}

}  // namespace

std::string payment_view(JsonValue payment) {
  if (payment.type() != JsonType::object) return std::string(payment.raw()) + "\n";
  std::string text = fmt::format("{}  {}", field_or_empty(payment, "paymentId"),
                                 field_or_empty(payment, "status"));
  if (const std::string reason = field_or_empty(payment, "reason"); !reason.empty()) {
    text += fmt::format("  ({})", reason);
  }
  text += "\n";
  if (const std::string amount = field_or_empty(payment, "amount"); !amount.empty()) {
    text +=
        fmt::format("{} {}  from {}  to {}\n", amount, field_or_empty(payment, "currency"),
                    field_or_empty(payment, "debtorIban"), field_or_empty(payment, "creditorIban"));
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLines{
      {{"scheduledTime", "scheduled"},
       {"executionTime", "asked for"},
       {"reference", "reference"},
       {"metadata", "metadata"}}};
  for (const auto& [name, label] : kLines) {
    if (const std::string value = field_or_empty(payment, name); !value.empty()) {
      text += fmt::format("{:<10} {}\n", label, value);
    }
  }
  if (const JsonValue queue = payment.find("queue"); queue && !queue.is_null()) {
    text += fmt::format("{:<10} {}  retries {}", "queue", field_or_empty(queue, "status"),
                        field_or_empty(queue, "retryCount"));
    if (const std::string error = field_or_empty(queue, "lastError"); !error.empty()) {
      text += fmt::format("  last error: {}", error);
    }
    text += "\n";
  }
  const JsonValue history = payment.find("history");
  if (!history || history.type() != JsonType::array) return text;
  for (JsonValue step = history.first(); step; step = step.next()) {
    const std::string from = field_or_empty(step, "from");
    const std::string detail = field_or_empty(step, "detail");
    text +=
        fmt::format("{}  {}{}{}{}\n", field_or_empty(step, "at"), from.empty() ? "" : from + " -> ",
                    field_or_empty(step, "to"), detail.empty() ? "" : "  ", detail);
  }
  return text;
}

std::string rules_view(JsonValue rules) {
  // Answers may name what else there is to know around the list.
  const JsonValue list = rules.type() == JsonType::object ? rules.find("rules") : rules;
  if (!list || list.type() != JsonType::array || list.size() == 0) {
    return "no rules: every well-formed payment is accepted\n";
  }
  std::string text;
  for (JsonValue rule = list.first(); rule; rule = rule.next()) {
    text += fmt::format("{:<24} {:<7} when {}  reason: {}\n", field_or_empty(rule, "name"),
                        field_or_empty(rule, "then"), field_or_empty(rule, "when"),
                        field_or_empty(rule, "reason"));
  }
  return text;
}

}  // namespace penstock::tool
