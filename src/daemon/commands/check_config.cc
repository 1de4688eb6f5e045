#include <fmt/format.h>

#include <memory>

#include "cli/exit_code.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/config_options.h"

namespace penstock::daemon {
namespace {

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
