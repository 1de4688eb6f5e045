#include "app/commands/commands.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "app/calls/call_command.h"
#include "app/calls/calls.h"
#include "app/cli/exit_code.h"
#include "app/commands/client_options.h"

namespace penstock::app {
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
  for (const ExitMeaning& each : kExitMeanings) {
    text += fmt::format("\n  {:<4} {}", static_cast<int>(each.code), each.brief);
  }
  return text;
}

// Groups of which every command is a row of a table.
void add_groups_of_calls(Command root) {
  add_calls(root.add("throttle", "Ask whether requests may pass now.", {}), throttle_calls());
  add_calls(
      root.add("policies", "Read and change the policies of throttle (needs the admin token).", {}),
      policy_calls());
  add_calls(
      root.add("keys", "Look at what keys have used, and reset it (needs the admin token).", {}),
      key_calls());
  add_calls(root.add("dispatch", "Schedule items, look at them, cancel and redrive them.", {}),
            dispatch_calls());
  add_calls(
      root.add("types", "Read and change the item types of dispatch (needs the admin token).", {}),
      item_type_calls());
}

// What was printed must have arrived: a full disk is not a success.
int with_output_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  print_error("cannot write to standard output: " + std::generic_category().message(errno));
  return code == kExitOk ? static_cast<int>(kExitFailed) : code;
}

}  // namespace

int run_penstock(int argc, const char* const* argv,
                 std::span<const sink::SinkExtension> extensions) {
  CommandLine line("penstock", kDescription, footer());
  add_serve(line.root(), extensions);
  add_check_config(line.root());
  add_doctor(line.root());
  add_migrate(line.root());
  add_verify(line.root());
  add_version(line.root());
  add_slots(line.root());
  add_windows(line.root());
  add_config(line.root());
  add_groups_of_calls(line.root());
  add_payments(line.root());
  add_gateway(line.root());
  add_calls(line.root(), daemon_calls());
  add_metrics(line.root());
  add_export(line.root());
  add_demo(line.root());
  add_bench(line.root());
  add_top(line.root());
  add_self_description(line.root(), line.tree());
  try {
    return with_output_written(line.run(argc, argv));
  } catch (const std::system_error& error) {  // of fmt::print, when a write fails
    print_error(error.what());
    return kExitFailed;
  }
}

}  // namespace penstock::app
