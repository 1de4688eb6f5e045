#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string_view>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/config_options.h"
#include "daemon/compose/stores.h"
#include "engine/mariadb/schema.h"
#include "engine/postgres/schema.h"
#include "engine/rocksdb/format.h"
#include "runtime/clocks.h"

namespace penstock::daemon {
namespace {

int migrate_embedded(const Config& config) {
  const runtime::SystemClock clock;
  store::embedded::EmbeddedOptions options = embedded_options(config);
  options.relaxed_durability = false;
  const auto store = store::embedded::EmbeddedStore::open(options, clock);
  if (!store) return cli::print_error(store.error().what), cli::kExitFailed;
  fmt::print("{} is at schema version {}\n", config.data_dir.string(),
             store::embedded::kSchemaVersion);
  return cli::kExitOk;
}

int print_report(std::string_view schema, const Result<store::MigrationReport>& report) {
  if (!report) return cli::print_error(report.error().what), cli::kExitFailed;
  if (report->applied.empty()) {
    fmt::print("{} is at version {}: nothing to do\n", schema, report->to_version);
  } else {
    fmt::print("{} went from version {} to {}: {}\n", schema, report->from_version,
               report->to_version, fmt::join(report->applied, ", "));
  }
  return cli::kExitOk;
}

int migrate_postgres(const Config& config) {
  return print_report(
      "the schema penstock in PostgreSQL",
      store::postgres::migrate(store::postgres::connect_options(postgres_options(config))));
}

int migrate_mariadb(const Config& config) {
  return print_report(
      "the schema of penstock in MariaDB",
      store::mariadb::migrate(store::mariadb::connect_options(mariadb_options(config))));
}

int run(const ConfigOptions& options) {
  const std::optional<LoadedConfig> loaded = options.load(false);
  if (!loaded) return cli::kExitUsage;
  const Config& config = loaded->config;
  const bool postgres = !config.postgres.url.empty();
  const bool mariadb = !config.mariadb.url.empty();
  if (postgres) {
    if (const int code = migrate_postgres(config); code != cli::kExitOk) return code;
  }
  if (mariadb) {
    if (const int code = migrate_mariadb(config); code != cli::kExitOk) return code;
  }
  return postgres || mariadb ? cli::kExitOk : migrate_embedded(config);
}

}  // namespace

void add_migrate(cli::Command root) {
  cli::Command command = root.add(
      "migrate",
      "Bring the store to the schema of this version, and say which that is.\n"
      "PostgreSQL: creates or upgrades the schema `penstock`; the role must own it or may create "
      "it.\n"
      "MariaDB: creates or upgrades the tables; the account may create and alter tables there.\n"
      "Run it before the first daemon and before a newer one: daemons refuse a schema that is "
      "behind.\n"
      "Data folder, when neither has a URL: `penstock serve` does the same when it starts; the "
      "daemon must be stopped.\n"
      "A schema of a newer version is refused and left as it is.",
      {"penstock migrate --data-dir /var/lib/penstock",
       "PENSTOCK_STORE_POSTGRES_URL=postgresql://penstock_owner@db/penstock penstock migrate",
       "PENSTOCK_STORE_MARIADB_URL=mysql://penstock_owner@db/penstock penstock migrate"});
  const auto options = std::make_shared<ConfigOptions>();
  options->add_to(command, "data-dir");
  command.action([options] { return run(*options); });
}

}  // namespace penstock::daemon
