#include "daemon/doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/iso8601.h"
#include "cli/exit_code.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/config_options.h"

namespace penstock::daemon {
namespace {

// Shorter, and a look-up of a name on a busy machine is taken for a fault; longer, and nobody
// waits.
constexpr Millis kLimitMin{100};
constexpr Millis kLimitMax = std::chrono::minutes{5};

struct DoctorArguments {
  ConfigOptions config;
  std::string timeout = "PT5S";
  bool json = false;
};

Result<void> check_timeout(const std::string& text) {
  const Millis limit = PENSTOCK_TRY(parse_duration(text));
  if (limit >= kLimitMin && limit <= kLimitMax) return {};
  return fail(ErrorKind::invalid, "must be from PT0.1S to PT5M");
}

int run_doctor(const DoctorArguments& arguments) {
  const doctor::Loaded loaded = arguments.config.try_load(true);
  const doctor::RunResult result =
      doctor::examine(arguments.config.file(), loaded, parse_duration(arguments.timeout).value());
  const bool coloured = ::isatty(STDOUT_FILENO) == 1;
  fmt::print("{}", arguments.json ? doctor::json_report(result.findings) + "\n"
                                  : doctor::text_report(result.findings, coloured));
  const int code = doctor::count(result.findings).failed > 0 ? cli::kExitFailed : cli::kExitOk;
  if (!result.left_running) return code;
  // A thread waits for somebody who does not answer, and nothing is to be cleaned up.
  std::fflush(stdout);
  std::_Exit(code);
}

}  // namespace

void add_doctor(cli::Command root) {
  cli::Command command = root.add(
      "doctor",
      "Look at all that `penstock serve` would need, and say what to fix.\n"
      "Settings, data folder, PostgreSQL, MariaDB, Redis, Kafka, Temporal, the sinks of item "
      "types, "
      "addresses,\n"
      "limits and the clock. Changes nothing and sends nothing to sinks; may run beside a daemon. "
      "Run "
      "it as the\n"
      "daemon's user. Exit code 1 when a check failed; warnings alone give 0.",
      {"penstock doctor --config /etc/penstock/penstock.yaml",
       "penstock doctor --config /etc/penstock/penstock.yaml --json",
       "PENSTOCK_STORE_POSTGRES_URL=postgresql://penstock_app@db/penstock penstock doctor"});
  const auto arguments = std::make_shared<DoctorArguments>();
  arguments->config.add_to(command);
  command.option({.names = "--timeout",
                  .value_name = "DURATION",
                  .help = "How long one check may take; all together at most twice that",
                  .check = check_timeout},
                 arguments->timeout);
  command.flag("--json", "Print one JSON object", arguments->json);
  command.action([arguments] { return run_doctor(*arguments); });
}

}  // namespace penstock::daemon
