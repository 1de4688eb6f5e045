#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/config_options.h"
#include "daemon/commands/export_rows.h"
#include "daemon/compose/stores.h"
#include "runtime/clocks.h"

namespace penstock::daemon {
namespace {

constexpr std::size_t kExportPageRows = 4'096;  // under 1 MiB at a time, whatever the store holds

struct ExportArguments {
  ConfigOptions config;
  std::string format = "ndjson";
  std::string output = "-";
  std::string event_prefix;

  ExportFormat parsed_format() const {
    return format == "csv" ? ExportFormat::csv : ExportFormat::ndjson;
  }
};

// Slots in the order of their stored ids, only those that begin with `prefix`.
Result<std::uint64_t> export_from(const store::Backend& store, ExportFormat format,
                                  const EventId& prefix, std::string rows, cli::OutputFile& out) {
  std::uint64_t count = 0;
  EventId after = prefix;
  if (!prefix.empty()) {  // scan() begins after its argument, and the prefix may be an id itself
    const auto exact = PENSTOCK_TRY(store.slots.store->find({&after, 1}));
    if (const std::optional<core::Slot>& slot = exact.front()) {
      append_row(rows, format, *slot);
      ++count;
    }
  }
  for (bool more = true; more;) {
    const auto page = PENSTOCK_TRY(store.slots.store->scan(after, kExportPageRows));
    more = page.size() == kExportPageRows;
    for (const core::Slot& slot : page) {
      if (!slot.event.str().starts_with(prefix.str())) {
        more = false;
        break;
      }
      append_row(rows, format, slot);
      ++count;
    }
    if (!page.empty()) after = page.back().event;
    PENSTOCK_TRY(out.write(rows));
    rows.clear();
  }
  return count;
}

// Those of dispatch's items first.
Result<std::uint64_t> export_slots(const store::Backend& store, const ExportArguments& arguments,
                                   cli::OutputFile& out) {
  const ExportFormat format = arguments.parsed_format();
  const std::string header(format == ExportFormat::csv ? kSlotCsvHeader : "");
  const std::string& prefix = arguments.event_prefix;
  if (prefix.empty()) return export_from(store, format, {}, header, out);
  const std::uint64_t items =
      PENSTOCK_TRY(export_from(store, format, core::item_event(prefix), header, out));
  const std::uint64_t events =
      PENSTOCK_TRY(export_from(store, format, EventId::trusted(prefix), {}, out));
  return items + events;
}

// All versions of every config, newest first, in the order of their names.
Result<std::uint64_t> export_configs(const store::Backend& store, const ExportArguments& arguments,
                                     cli::OutputFile& out) {
  const ExportFormat format = arguments.parsed_format();
  std::string rows(format == ExportFormat::csv ? kConfigCsvHeader : "");
  std::uint64_t count = 0;
  ConfigName after;
  for (bool more = true; more;) {
    const auto page = PENSTOCK_TRY(store.slots.configs->list(after, kExportPageRows));
    more = page.size() == kExportPageRows;
    for (const core::SlotConfig& active : page) {
      const auto versions = PENSTOCK_TRY(
          store.slots.configs->history(active.name, std::numeric_limits<std::size_t>::max()));
      for (const core::SlotConfig& version : versions) append_row(rows, format, version);
      count += versions.size();
      after = active.name;
      PENSTOCK_TRY(out.write(rows));
      rows.clear();
    }
  }
  PENSTOCK_TRY(out.write(rows));  // a header without rows
  return count;
}

using Export = Result<std::uint64_t> (*)(const store::Backend&, const ExportArguments&,
                                         cli::OutputFile&);

Result<std::uint64_t> export_to_file(const Config& config, const ExportArguments& arguments,
                                     Export export_all) {
  const runtime::SystemClock clock;
  const Stores stores = PENSTOCK_TRY(Stores::open(config, clock, nullptr, StoreUse::slots_command));
  cli::OutputFile out = PENSTOCK_TRY(cli::OutputFile::open(arguments.output));
  const std::uint64_t count = PENSTOCK_TRY(export_all(stores.slots(), arguments, out));
  PENSTOCK_TRY(out.close());
  return count;
}

int run_export(const ExportArguments& arguments, Export export_all) {
  const std::optional<LoadedConfig> loaded = arguments.config.load(false);
  if (!loaded) return cli::kExitUsage;
  const Result<std::uint64_t> count = export_to_file(loaded->config, arguments, export_all);
  if (!count) return cli::print_error(count.error().what), cli::kExitFailed;
  fmt::print(stderr, "exported {} rows\n", *count);
  return cli::kExitOk;
}

void add_common(cli::Command& command, ExportArguments& arguments) {
  arguments.config.add_to(command, "data-dir");
  command.option({.names = "--format",
                  .value_name = "ndjson|csv",
                  .help = "Form of the rows; names are those of the API",
                  .check = cli::one_of("ndjson|csv")},
                 arguments.format);
  command.option({.names = "--output", .value_name = "FILE", .help = "- is standard output"},
                 arguments.output);
}

}  // namespace

void add_export(cli::Command root) {
  cli::Command group = root.add(
      "export",
      "Write what the store holds as NDJSON or CSV.\n"
      "A daemon on the embedded store must be stopped before; PostgreSQL is read beside it.",
      {});

  cli::Command slots =
      group.add("slots", "Write all slots, those of dispatch's items first, ordered by event id.",
                {"penstock export slots > slots.ndjson",
                 "penstock export slots --data-dir /var/lib/penstock --format csv "
                 "--output slots.csv",
                 "penstock export slots --event-prefix order-"});
  const auto for_slots = std::make_shared<ExportArguments>();
  add_common(slots, *for_slots);
  slots.option({.names = "--event-prefix",
                .value_name = "TEXT",
                .help = "Only events whose id begins with this"},
               for_slots->event_prefix);
  slots.action([for_slots] { return run_export(*for_slots, export_slots); });

  cli::Command configs =
      group.add("config", "Write all versions of all slot configs, newest first.",
                {"penstock export config", "penstock export config --format csv"});
  const auto for_configs = std::make_shared<ExportArguments>();
  add_common(configs, *for_configs);
  configs.action([for_configs] { return run_export(*for_configs, export_configs); });
}

}  // namespace penstock::daemon
