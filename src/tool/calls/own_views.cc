// Answers that are worded in forms of their own.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tool/calls/call.h"

namespace penstock::tool {
namespace {

using wire::JsonType;
using wire::JsonValue;

constexpr std::int64_t kUsageBarColumns = 40;

// A member as text, empty when it is not there.
std::string field_or_empty(JsonValue object, std::string_view name) {
  if (!object || object.type() != JsonType::object) return "";
  const JsonValue member = object.find(name);
  if (!member || member.is_null()) return "";
  return std::string(member.type() == JsonType::string ? member.string() : member.raw());
}

// A member as text, "-" when it is not there.
std::string field_or_dash(JsonValue object, std::string_view name) {
  std::string text = field_or_empty(object, name);
  return text.empty() ? "-" : text;
}

std::int64_t number(JsonValue object, std::string_view name) {
  const JsonValue member =
      object.type() == JsonType::object ? object.find(name) : object;  // not an object: no number
  return member && member.type() == JsonType::number ? member.integer().value_or(0) : 0;
}

std::string bar(std::int64_t used, std::int64_t max) {
  if (used <= 0 || max <= 0) return "";
  // Any use shows; a full window, and one above a lowered maximum, fill the bar.
  const std::int64_t share = std::min(used, max) * kUsageBarColumns / max;
  return std::string(static_cast<std::size_t>(std::max<std::int64_t>(share, 1)), '#');
}

std::string config_row(JsonValue config) {
  return fmt::format("{:<24} {:>8} {:>7} {:>12} {:>10}  {:<24} {}\n",
                     field_or_dash(config, "configName"), field_or_dash(config, "version"),
                     field_or_dash(config, "active") == "true" ? "active" : "-",
                     field_or_dash(config, "maxPerWindow"), field_or_dash(config, "windowSize"),
                     field_or_dash(config, "pool"), field_or_dash(config, "effectiveFrom"));
}

}  // namespace

std::string slot_view(JsonValue slot) {
  std::string text = fmt::format(
      "{}  scheduled {}  delay {} ms  window {}  config {}\n", field_or_dash(slot, "eventId"),
      field_or_dash(slot, "scheduledTime"), field_or_dash(slot, "delayMs"),
      field_or_dash(slot, "windowStart"), field_or_dash(slot, "configName"));
  if (field_or_dash(slot, "status") != "-") {
    text += fmt::format("status {}  created {}  config version {}\n", field_or_dash(slot, "status"),
                        field_or_dash(slot, "createdAt"), field_or_dash(slot, "configVersion"));
    if (const std::string owner = field_or_dash(slot, "owner"); owner != "-") {
      text += fmt::format("owner {}\n", owner);
    }
  }
  return text;
}

std::string windows_view(JsonValue windows) {
  std::string text =
      fmt::format("config {}  pool {}  window {}\n", field_or_dash(windows, "config"),
                  field_or_dash(windows, "pool"), field_or_dash(windows, "windowSize"));
  const JsonValue list = windows.type() == JsonType::object ? windows.find("windows") : windows;
  if (!list || list.type() != JsonType::array || list.size() == 0) {
    return text + "no used windows in this time\n";
  }
  text += fmt::format("{:<24} {:>10} {:>10}\n", "window start", "used", "max");
  for (JsonValue window = list.first(); window; window = window.next()) {
    text += fmt::format("{:<24} {:>10} {:>10}  {}\n", field_or_dash(window, "windowStart"),
                        field_or_dash(window, "used"), field_or_dash(window, "max"),
                        bar(number(window, "used"), number(window, "max")));
  }
  if (field_or_dash(windows, "next") != "-") {
    text += fmt::format("there is more: --from {}\n", field_or_dash(windows, "next"));
  }
  return text;
}

std::string configs_view(JsonValue configs) {
  std::string text = fmt::format("{:<24} {:>8} {:>7} {:>12} {:>10}  {:<24} {}\n", "config",
                                 "version", "state", "max/window", "window", "pool", "since");
  if (configs.type() != JsonType::array) return text + config_row(configs);
  for (JsonValue config = configs.first(); config; config = config.next()) {
    text += config_row(config);
  }
  return text;
}

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
