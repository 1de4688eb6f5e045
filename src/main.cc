// The program `penstock`: the commands of the daemon and of the client, put into one command line.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "daemon/commands/commands.h"
#include "tool/commands/commands.h"

namespace penstock {
namespace {

constexpr const char* kDescription =
    "Penstock decides whether, when and how fast work may run.\n"
    "`penstock serve` runs the daemon; the other commands check its config, talk to it, or read "
    "its\n"
    "data folder.";

constexpr const char* kStart =
    "Start here:\n"
    "  penstock serve\n"
    "  penstock config set default --max-per-window 100 --window PT4S\n"
    "  penstock slots assign order-1\n"
    "\n"
    "`penstock COMMAND --help` shows a command's options and examples.\n"
    "Exit codes:";

std::string footer() {
  std::string text = kStart;
  for (const cli::ExitMeaning& each : cli::kExitMeanings) {
    text += fmt::format("\n  {:<4} {}", static_cast<int>(each.code), each.brief);
  }
  return text;
}

void add_commands(cli::Command root) {
  daemon::add_serve(root, daemon::extensions());
  daemon::add_check_config(root);
  daemon::add_doctor(root);
  daemon::add_migrate(root);
  daemon::add_verify(root);
  daemon::add_version(root);
  daemon::add_slots_prune(tool::add_calls_of_daemon(root));
  daemon::add_export(root);
  tool::add_demo(root);
  tool::add_bench(root);
  tool::add_top(root);
}

// What was printed must have arrived: a full disk is not a success.
int with_output_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  cli::print_error("cannot write to standard output: " + std::generic_category().message(errno));
  return code == cli::kExitOk ? static_cast<int>(cli::kExitFailed) : code;
}

int run(int argc, const char* const* argv) {
  cli::CommandLine line("penstock", kDescription, footer());
  add_commands(line.root());
  tool::add_self_description(line.root(), line.tree());
  try {
    return with_output_written(line.run(argc, argv));
  } catch (const std::system_error& error) {  // of fmt::print, when a write fails
    cli::print_error(error.what());
    return cli::kExitFailed;
  }
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) { return penstock::run(argc, argv); }
