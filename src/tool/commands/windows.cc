#include <fmt/format.h>

#include <memory>

#include "base/iso8601.h"
#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/time_argument.h"
#include "runtime/clocks.h"
#include "tool/commands/commands.h"
#include "tool/commands/views.h"

namespace penstock::tool {
namespace {

struct WindowsArguments {
  cli::ClientOptions client;
  std::string config;
  std::string from = "now-PT1M";  // the current window began a moment ago
  std::string to = "now+PT1H";
};

int run_windows(const WindowsArguments& arguments) {
  const Instant now = runtime::SystemClock().now();
  std::string target = "/api/v1/windows?config=" + http::percent_encoded(arguments.config);
  for (const auto& [name, text] : {std::pair{"from", &arguments.from}, {"to", &arguments.to}}) {
    const Result<Instant> instant = cli::parse_time_argument(*text, now);
    if (!instant) {
      cli::print_error(fmt::format("--{}: {}", name, instant.error().what));
      return cli::kExitUsage;
    }
    target += fmt::format("&{}={}", name, http::percent_encoded(format_instant(*instant)));
  }
  return cli::call_and_print(arguments.client, {.target = target}, windows_view);
}

}  // namespace

void add_windows(cli::Command root) {
  cli::Command command = root.add(
      "windows", "Show how full the windows of a config are, used ones only.",
      {"penstock windows", "penstock windows --config payments --from now-PT5M --to now+PT5M",
       "penstock windows --from 2025-06-01T12:00:00Z --to 2025-06-01T13:00:00Z --json"});
  const auto arguments = std::make_shared<WindowsArguments>();
  command.option({.names = "--config",
                  .value_name = "NAME",
                  .help = "Config to look at; without it, the daemon's default"},
                 arguments->config);
  command.option({.names = "--from",
                  .value_name = "TIME",
                  .help = "First window start: 2025-06-01T12:00:00Z, now, now-PT5M"},
                 arguments->from);
  command.option({.names = "--to", .value_name = "TIME", .help = "End, not included"},
                 arguments->to);
  cli::add_client_options(command, arguments->client);
  command.calls("GET", "/api/v1/windows");
  command.action([arguments] { return run_windows(*arguments); });
}

}  // namespace penstock::tool
