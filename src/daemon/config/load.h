// Settings from their sources to one checked Config: file, environment and flags, in rising order,
// then the rules between settings and the files that settings name. Each step says all that is
// wrong, so that a person mends a file in one go. None throws.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/config/keys.h"

namespace penstock::daemon {

struct Setting {
  const Key* key = nullptr;
  FieldValue value;
  std::string origin;  // "penstock.yaml:3", "PENSTOCK_HTTP_LISTEN", "--http", "default"
};

struct SourceReading {
  std::vector<Setting> settings;
  std::vector<std::string> problems;  // each "ORIGIN: sentence"
};

// `file_name` is for messages only.
SourceReading read_yaml(std::string_view file_name, const std::string& text);

using EnvironmentVariable = std::pair<std::string, std::string>;

// Looks at PENSTOCK_* only; an empty variable counts as not set.
SourceReading read_environment(std::span<const EnvironmentVariable> variables);

// The variables of this process.
std::vector<EnvironmentVariable> process_environment();

struct FlagValue {
  const Key* key = nullptr;  // one that has a flag
  std::string text;
};

SourceReading read_flags(std::span<const FlagValue> flags);

// Takes `text` for `key`: a setting, or a problem.
void take(SourceReading& reading, const Key& key, std::string_view text, std::string origin);

struct ConfigSources {
  std::filesystem::path file;  // empty = none
  std::vector<EnvironmentVariable> environment;
  std::vector<FlagValue> flags;
  // Commands that only look at the data folder may be run by people who may not read the tokens.
  bool read_secret_files = true;
};

struct LoadedConfig {
  Config config;
  std::vector<Setting> changed;  // values that differ from their defaults, in the table's order
  std::vector<std::string> warnings;  // fit to run, but somebody should know
};

// One checked Config, or everything that is wrong.
std::expected<LoadedConfig, std::vector<std::string>> load_config(const ConfigSources& sources);

// The rules (rules.cc), for load_config().

inline constexpr std::string_view kDefaultOrigin = "default";

using Settings = std::map<std::string_view, Setting>;  // by path; every key of the table is there

struct RuleFindings {
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
};

// Fills in what follows from other settings.
void settle(Config& config, const Settings& settings);

// Rules between settings; `settings` says where each came from. Reads no file.
RuleFindings validate(const Config& config, const Settings& settings);

// Loads the secrets from their files and tries the other files. Without `all` only the passwords of
// the stores, which every command that opens a store needs.
void take_files(Config& config, const Settings& settings, bool all, RuleFindings& findings);

}  // namespace penstock::daemon
