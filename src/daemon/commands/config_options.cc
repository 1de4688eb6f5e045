#include "daemon/commands/config_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::daemon {
namespace {

std::string_view first_sentence(std::string_view text) {
  return text.substr(0, std::min(text.find(". "), text.size() - 1));  // without the full stop
}

}  // namespace

void ConfigOptions::add_to(cli::Command& command, std::string_view only_key) {
  command.option({.names = "--config",
                  .value_name = "FILE",
                  .help = "YAML file with settings; without it, defaults",
                  .environment = "PENSTOCK_CONFIG"},
                 file_);
  for (const Key& key : keys()) {
    if (key.flag.empty() || (!only_key.empty() && key.path() != only_key)) continue;
    FlagValue& flag = flags_.emplace_back(FlagValue{&key, ""});
    const std::string fallback = key.format(key.default_value());
    command.option({.names = std::string(key.flag),
                    .value_name = value_name_for(key.field, *key.form),
                    .help = fmt::format("{} ({}{}{})", first_sentence(key.field.help), key.path(),
                                        fallback.empty() ? "" : ", default ", fallback)},
                   flag.text);
  }
}

std::expected<LoadedConfig, std::vector<std::string>> ConfigOptions::try_load(
    bool read_secret_files) const {
  ConfigSources sources{.file = file_,
                        .environment = process_environment(),
                        .flags = {},
                        .read_secret_files = read_secret_files};
  for (const FlagValue& flag : flags_) {
    if (!flag.text.empty()) sources.flags.push_back(flag);
  }
  return load_config(sources);
}

std::optional<LoadedConfig> ConfigOptions::load(bool read_secret_files) const {
  auto loaded = try_load(read_secret_files);
  if (loaded) return *std::move(loaded);
  for (const std::string& problem : loaded.error()) fmt::print(stderr, "{}\n", problem);
  fmt::print(stderr, "{} problem{} in the configuration\n", loaded.error().size(),
             loaded.error().size() == 1 ? "" : "s");
  return std::nullopt;
}

}  // namespace penstock::daemon
