#include "daemon/config/sources.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"

namespace penstock::daemon {
namespace {

constexpr std::string_view kPrefix = "PENSTOCK_";

// PENSTOCK_CONFIG names the file itself, PENSTOCK_URL and PENSTOCK_TOKEN are for the client
// commands, PENSTOCK_BUILD and PENSTOCK_CACHE for the project's own tests: none of them is a
// setting.
constexpr std::array<std::string_view, 5> kNotSettings{
    "PENSTOCK_CONFIG", "PENSTOCK_URL", "PENSTOCK_TOKEN", "PENSTOCK_BUILD", "PENSTOCK_CACHE"};

// Kubernetes gives every pod the address of a service named penstock (or penstock-x) as
// PENSTOCK_SERVICE_HOST, PENSTOCK_PORT=tcp://…, PENSTOCK_PORT_8080_TCP_ADDR and so on.
bool is_kubernetes_link(std::string_view name, std::string_view value) {
  if (name.find("_SERVICE_HOST") != name.npos || name.find("_SERVICE_PORT") != name.npos) {
    return true;
  }
  const std::size_t port = name.find("_PORT");
  if (port == name.npos) return false;
  const std::string_view rest = name.substr(port + 5);
  if (rest.empty()) return value.find("://") != value.npos;
  return rest.size() > 1 && rest[0] == '_' && rest[1] >= '0' && rest[1] <= '9';
}

}  // namespace

void take(SourceReading& reading, const Key& key, std::string_view text, std::string origin) {
  Result<FieldValue> value = key.parse(text);
  if (value) {
    reading.settings.push_back({&key, *std::move(value), std::move(origin)});
  } else {
    reading.problems.push_back(fmt::format("{}: {} {}", origin, key.path(), value.error().what));
  }
}

SourceReading read_environment(std::span<const EnvironmentVariable> variables) {
  std::vector<std::string> names;
  std::ranges::transform(keys(), std::back_inserter(names),
                         [](const Key& key) { return environment_name(key.path()); });
  const std::vector<std::string_view> candidates(names.begin(), names.end());

  SourceReading reading;
  for (const auto& [name, value] : variables) {
    if (!name.starts_with(kPrefix) || value.empty()) continue;
    if (std::ranges::find(kNotSettings, name) != kNotSettings.end()) continue;
    if (const Key* key = find_key_by_environment_name(name)) {
      take(reading, *key, value, name);
    } else if (!is_kubernetes_link(name, value)) {
      reading.problems.push_back(
          fmt::format("{}: unknown environment variable; the nearest known one is {}", name,
                      nearest_name(name, candidates)));
    }
  }
  return reading;
}

std::vector<EnvironmentVariable> process_environment() {
  std::vector<EnvironmentVariable> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != text.npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::ranges::sort(variables);  // so that problems come in the same order on every machine
  return variables;
}

SourceReading read_flags(std::span<const FlagValue> flags) {
  SourceReading reading;
  for (const FlagValue& flag : flags) {
    take(reading, *flag.key, flag.text, std::string(flag.key->flag));
  }
  return reading;
}

}  // namespace penstock::daemon
