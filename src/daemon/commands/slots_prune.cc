#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/input_text.h"
#include "cli/terminal.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/config_options.h"
#include "daemon/commands/export_rows.h"
#include "daemon/compose/stores.h"
#include "runtime/clocks.h"

namespace penstock::daemon {
namespace {

struct PruneArguments {
  ConfigOptions config;
  std::string before;
  std::string output;
  std::string format = "ndjson";
  bool forget = false;
};

int run_prune(const PruneArguments& arguments) {
  if (arguments.forget != arguments.output.empty()) {
    cli::print_error("give either --output FILE, to move old slots there, or --delete");
    return cli::kExitUsage;
  }
  const std::optional<LoadedConfig> loaded = arguments.config.load(false);
  if (!loaded) return cli::kExitUsage;
  const runtime::SystemClock clock;
  const Result<Instant> before = cli::parse_time_argument(arguments.before, clock.now());
  if (!before) return cli::print_error("--before " + before.error().what), cli::kExitUsage;
  const auto stores = Stores::open(loaded->config, clock, nullptr, StoreUse::slots_command);
  if (!stores) return cli::print_error(stores.error().what), cli::kExitFailed;
  const store::Backend backend = stores->slots();
  if (backend.slots.retention == nullptr) {
    cli::print_error("the " + backend.name + " store does not prune slots");
    return cli::kExitFailed;
  }

  const cli::Interrupt interrupt;
  SlotArchive archive(arguments.output,
                      arguments.format == "csv" ? ExportFormat::csv : ExportFormat::ndjson);
  std::uint64_t moved = 0;
  cli::StatusLine progress;
  const auto report = backend.slots.retention->prune(
      {.before = *before},
      [&](std::span<const core::Slot> slots) -> Result<void> {
        if (!arguments.forget) {
          PENSTOCK_TRY(archive.add(slots));
        }
        moved += slots.size();
        progress.show(fmt::format("{} slots taken out", moved));
        return {};
      },
      [&] { return interrupt.happened(); });
  progress.clear();
  if (!report) {
    cli::print_error(
        fmt::format("{} ({} slots were taken out before)", report.error().what, moved));
    return cli::kExitFailed;
  }
  fmt::print(stderr, "{} {} slots and {} window counters\n", arguments.forget ? "deleted" : "moved",
             report->slots, report->windows);
  return interrupt.happened() ? cli::kExitInterrupted : cli::kExitOk;
}

}  // namespace

void add_slots_prune(cli::Command slots) {
  cli::Command command = slots.add(
      "prune",
      "Take slots of windows that ended before a time out of the store, into a file or for good.\n"
      "Works in small steps beside running daemons on PostgreSQL; a daemon on the embedded store "
      "must\n"
      "be stopped before. Each slot is in the file before the store forgets it. An event that was "
      "taken\n"
      "out is unknown from then on: its id may be assigned anew.",
      {"penstock slots prune --before now-P90D --output slots-old.ndjson",
       "penstock slots prune --before 2025-01-01T00:00:00Z --output slots-2024.csv --format csv",
       "penstock slots prune --before now-P30D --delete"});
  const auto arguments = std::make_shared<PruneArguments>();
  command.option({.names = "--before",
                  .value_name = "TIME",
                  .help = "Windows that have ended by then: 2025-06-01T12:00:00Z, now, now-P90D",
                  .required = true},
                 arguments->before);
  command.option({.names = "--output",
                  .value_name = "FILE",
                  .help = "New file for the slots; one that exists is not touched"},
                 arguments->output);
  command.option({.names = "--format",
                  .value_name = "ndjson|csv",
                  .help = "Form of the file",
                  .check = cli::one_of("ndjson|csv")},
                 arguments->format);
  command.flag("--delete", "Keep no copy", arguments->forget);
  arguments->config.add_to(command, "data-dir");
  command.action([arguments] { return run_prune(*arguments); });
}

}  // namespace penstock::daemon
