#include "app/commands/commands.h"

namespace penstock::app {
namespace {

constexpr const char* kDescription =
    "Penstock decides whether, when and how fast work may run.\n"
    "`penstock serve` runs the daemon; the other commands check its config, talk to it, or read "
    "its\n"
    "data folder.";

constexpr const char* kFooter =
    "Start here:\n"
    "  penstock serve\n"
    "  penstock config set default --max-per-window 100 --window PT4S\n"
    "  penstock slots assign order-1\n"
    "\n"
    "`penstock COMMAND --help` shows a command's options and examples.\n"
    "Exit codes: 0 done; 1 refused, or some lines failed; 2 wrong command line or config;\n"
    "3 the daemon could not be reached; 130 interrupted by Ctrl-C.";

}  // namespace

int run_penstock(int argc, const char* const* argv,
                 std::span<const sink::SinkExtension> extensions) {
  CommandLine line("penstock", kDescription, kFooter);
  add_serve(line.root(), extensions);
  add_check_config(line.root());
  add_doctor(line.root());
  add_migrate(line.root());
  add_version(line.root());
  add_slots(line.root());
  add_windows(line.root());
  add_config(line.root());
  add_payments(line.root());
  add_gateway(line.root());
  add_export(line.root());
  add_demo(line.root());
  add_bench(line.root());
  add_top(line.root());
  return line.run(argc, argv);
}

}  // namespace penstock::app
