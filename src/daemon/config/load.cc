#include "daemon/config/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "base/check.h"
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

// All keys with comments fill a few KiB; more is not a config file.
constexpr std::size_t kSettingsBytesMax = 1024 * 1024;

SourceReading read_file(const std::filesystem::path& path) {
  SourceReading reading;
  const auto unreadable = [&](std::string_view why) {
    reading.problems.push_back(fmt::format("{}: cannot be read: {}", path.string(), why));
    return reading;
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return unreadable("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(std::generic_category().message(errno));
  std::string text(kSettingsBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return unreadable(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kSettingsBytesMax) return unreadable("it is larger than 1MiB");
  return read_yaml(path.string(), text);
}

// Later sources win, key by key.
Settings merge(std::vector<SourceReading> readings, std::vector<std::string>& problems) {
  Settings settings;
  for (const Key& key : keys()) {
    settings[key.path()] = {&key, key.default_value(), std::string(kDefaultOrigin)};
  }
  for (SourceReading& reading : readings) {
    std::ranges::move(reading.problems, std::back_inserter(problems));
    for (Setting& setting : reading.settings) settings[setting.key->path()] = std::move(setting);
  }
  return settings;
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

LogFormat LogConfig::format_for(int fd) const noexcept {
  switch (format) {
    case LogFormatChoice::text:
      return LogFormat::text;
    case LogFormatChoice::json:
      return LogFormat::json;
    case LogFormatChoice::automatic:
      break;
  }
  return ::isatty(fd) == 1 ? LogFormat::text : LogFormat::json;
}

std::expected<LoadedConfig, std::vector<std::string>> load_config(const ConfigSources& sources) {
  std::vector<SourceReading> readings;
  if (!sources.file.empty()) readings.push_back(read_file(sources.file));
  readings.push_back(read_environment(sources.environment));
  readings.push_back(read_flags(sources.flags));

  std::vector<std::string> problems;
  const Settings settings = merge(std::move(readings), problems);

  LoadedConfig loaded;
  for (const Key& key : keys()) {
    const Setting& setting = settings.at(key.path());
    if (setting.value == key.default_value()) continue;
    PENSTOCK_CHECK(key.field.set(key.record(loaded.config), setting.value).has_value());
    loaded.changed.push_back(setting);
  }

  settle(loaded.config, settings);
  RuleFindings findings = validate(loaded.config, settings);
  take_files(loaded.config, settings, sources.read_secret_files, findings);
  std::ranges::move(findings.problems, std::back_inserter(problems));
  if (!problems.empty()) return std::unexpected(std::move(problems));
  loaded.warnings = std::move(findings.warnings);
  return loaded;
}

}  // namespace penstock::daemon
