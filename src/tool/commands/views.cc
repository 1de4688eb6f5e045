#include "tool/commands/views.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::tool {
namespace {

using wire::JsonType;
using wire::JsonValue;

constexpr std::int64_t kUsageBarColumns = 40;

// A member as text, "-" when it is not there.
std::string field_or_dash(JsonValue object, std::string_view name) {
  if (object.type() != JsonType::object) return "-";
  const JsonValue member = object.find(name);
  if (!member || member.is_null()) return "-";
  return std::string(member.type() == JsonType::string ? member.string() : member.raw());
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

}  // namespace penstock::tool
