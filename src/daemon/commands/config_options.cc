#include "daemon/commands/config_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/exit_code.h"
#include "daemon/commands/commands.h"

namespace penstock::daemon {
namespace {

std::string_view first_sentence(std::string_view text) {
  return text.substr(0, std::min(text.find(". "), text.size() - 1));  // without the full stop
}

// Token files are named, what they hold is never shown.
void print_settings(const ConfigOptions& options, const LoadedConfig& loaded) {
  fmt::print("OK{}{}\n", options.file().empty() ? "" : ": ", options.file());
  if (loaded.changed.empty()) {
    fmt::print("all settings are at their defaults\n");
  } else {
    fmt::print("settings that differ from the defaults:\n");
  }
  for (const Setting& setting : loaded.changed) {
    fmt::print("  {:<32} {:<24} from {}\n", setting.key->path(), setting.key->format(setting.value),
               setting.origin);
  }
  for (const std::string& warning : loaded.warnings) fmt::print("warning: {}\n", warning);
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

void add_check_config(cli::Command root) {
  cli::Command command = root.add(
      "check-config",
      "Check the settings that `penstock serve` would use, and start nothing.\n"
      "Prints OK and what differs from the defaults, or every problem at once (exit code 2).",
      {"penstock check-config --config penstock.yaml",
       "PENSTOCK_HTTP_LISTEN=127.0.0.1:9000 penstock check-config",
       "penstock check-config --print-reference"});
  struct CheckConfigArguments {
    ConfigOptions config;
    bool print_reference = false;
  };
  const auto arguments = std::make_shared<CheckConfigArguments>();
  arguments->config.add_to(command);
  command.flag("--print-reference", "Print all settings as a markdown table and check nothing",
               arguments->print_reference);
  command.action([arguments] {
    if (arguments->print_reference) {
      fmt::print("{}", reference_markdown());
      return static_cast<int>(cli::kExitOk);
    }
    const std::optional<LoadedConfig> loaded = arguments->config.load(true);
    if (!loaded) return static_cast<int>(cli::kExitUsage);
    print_settings(arguments->config, *loaded);
    return static_cast<int>(cli::kExitOk);
  });
}

}  // namespace penstock::daemon
