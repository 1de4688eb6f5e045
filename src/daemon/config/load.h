// File, environment and flags, in rising order -> one checked Config, or everything that is wrong.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/config/sources.h"

namespace penstock::daemon {

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

std::expected<LoadedConfig, std::vector<std::string>> load_config(const ConfigSources& sources);

}  // namespace penstock::daemon
