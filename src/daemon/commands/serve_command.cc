#include <unistd.h>

#include <memory>

#include "base/log.h"
#include "cli/exit_code.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/config_options.h"
#include "daemon/commands/serve.h"
#include "runtime/system_clock.h"

namespace penstock::daemon {
namespace {

void log_warnings(const LoadedConfig& loaded) {
  const runtime::SystemClock clock;
  const LogConfig& settings = loaded.config.log;
  Log log(clock, STDERR_FILENO, settings.level, settings.format_for(STDERR_FILENO));
  for (const std::string& warning : loaded.warnings) {
    log.warn("config.warning", {{"warning", warning}});
  }
}

}  // namespace

void add_serve(cli::Command root, std::span<const sink::SinkExtension> extensions) {
  cli::Command command = root.add(
      "serve",
      "Run the daemon until SIGTERM or Ctrl-C.\n"
      "Prints `ready http=ADDR:PORT`, and ` resp=ADDR:PORT` if Redis clients are served, on "
      "standard "
      "output once it serves; logs go to standard error.\n"
      "Settings come from the file, then PENSTOCK_* variables, then flags; later ones win.",
      {"penstock serve", "penstock serve --data-dir /var/lib/penstock --http 127.0.0.1:9000",
       "penstock serve --config penstock.yaml --admin-token-file admin.token"});
  const auto options = std::make_shared<ConfigOptions>();
  options->add_to(command);
  command.action([options, extensions] {
    const std::optional<LoadedConfig> loaded = options->load(true);
    if (!loaded) return static_cast<int>(cli::kExitUsage);
    log_warnings(*loaded);
    return serve(loaded->config, [options] { return options->try_load(true); }, extensions);
  });
}

}  // namespace penstock::daemon
