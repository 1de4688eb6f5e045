#include "app/commands/views.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::app {
namespace {

using wire::JsonType;
using wire::JsonValue;

constexpr std::int64_t kBarColumns = 40;

// A member as text, "-" when it is not there.
std::string field(JsonValue object, std::string_view name) {
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
  const std::int64_t share = std::min(used, max) * kBarColumns / max;
  return std::string(static_cast<std::size_t>(std::max<std::int64_t>(share, 1)), '#');
}

std::string config_row(JsonValue config) {
  return fmt::format("{:<24} {:>8} {:>7} {:>12} {:>10}  {:<24} {}\n", field(config, "configName"),
                     field(config, "version"), field(config, "active") == "true" ? "active" : "-",
                     field(config, "maxPerWindow"), field(config, "windowSize"),
                     field(config, "pool"), field(config, "effectiveFrom"));
}

}  // namespace

std::string slot_view(JsonValue slot) {
  std::string text =
      fmt::format("{}  scheduled {}  delay {} ms  window {}  config {}\n", field(slot, "eventId"),
                  field(slot, "scheduledTime"), field(slot, "delayMs"), field(slot, "windowStart"),
                  field(slot, "configName"));
  if (field(slot, "status") != "-") {
    text += fmt::format("status {}  created {}  config version {}\n", field(slot, "status"),
                        field(slot, "createdAt"), field(slot, "configVersion"));
  }
  return text;
}

std::string windows_view(JsonValue windows) {
  std::string text = fmt::format("config {}  pool {}  window {}\n", field(windows, "config"),
                                 field(windows, "pool"), field(windows, "windowSize"));
  const JsonValue list = windows.type() == JsonType::object ? windows.find("windows") : windows;
  if (!list || list.type() != JsonType::array || list.size() == 0) {
    return text + "no used windows in this time\n";
  }
  text += fmt::format("{:<24} {:>10} {:>10}\n", "window start", "used", "max");
  for (JsonValue window = list.first(); window; window = window.next()) {
    text += fmt::format("{:<24} {:>10} {:>10}  {}\n", field(window, "windowStart"),
                        field(window, "used"), field(window, "max"),
                        bar(number(window, "used"), number(window, "max")));
  }
  if (field(windows, "next") != "-") {
    text += fmt::format("there is more: --from {}\n", field(windows, "next"));
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

}  // namespace penstock::app
