#include "daemon/config/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "base/check.h"
#include "daemon/config/rules.h"

namespace penstock::daemon {
namespace {

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
