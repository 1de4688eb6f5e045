#include "engine/postgres/schema.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace penstock::store::postgres {
namespace {

// A large table may take long to change; a migration that waits for a lock should give up sooner.
constexpr Millis kMigrationLimit = std::chrono::hours{1};
constexpr Millis kMigrationLockLimit = Seconds{30};

// 1885434739 is "pens"; -1 is no pool and not the config lock (0).
constexpr const char* kLock = "SELECT pg_advisory_lock(1885434739, -1)";
constexpr const char* kBootstrap =
    "CREATE SCHEMA IF NOT EXISTS penstock;"
    "CREATE TABLE IF NOT EXISTS penstock.schema_version ("
    "  version integer PRIMARY KEY, name text NOT NULL,"
    "  applied_at timestamptz NOT NULL DEFAULT now())";

// Functions and views stand in any order: their bodies are looked at when they are called.
std::string baseline() {
  std::string script = "SET LOCAL check_function_bodies = off;\n";
  for (const auto& files : {embedded_tables(), embedded_functions(), embedded_views()}) {
    for (const SqlFile& file : files) script += file.text;
  }
  return script;
}

}  // namespace

DatabaseResult<std::int32_t> current_version(Connection& connection,
                                             const runtime::Deadline& deadline) {
  const auto rows = connection.run(call("schema_version"), deadline);
  if (rows) return rows->int4(0, 0);
  constexpr std::string_view kNoTable = "42P01";
  constexpr std::string_view kNoSchema = "3F000";
  if (rows.error().code == kNoTable || rows.error().code == kNoSchema) return 0;
  return std::unexpected(rows.error());
}

const Schema& schema() {
  static const Schema own{.baseline = baseline(), .migrations = embedded_migrations()};
  return own;
}

std::int32_t schema_version() { return schema().version(); }

Result<MigrationReport> migrate(const ConnectOptions& options, const Schema& to) {
  ConnectOptions patient = options;
  patient.statement_timeout = kMigrationLimit;
  patient.lock_timeout = kMigrationLockLimit;
  const runtime::Deadline deadline(kMigrationLimit);
  const auto connection = PENSTOCK_TRY(Connection::open(patient, runtime::Deadline(Seconds{10})));
  const auto run = [&](const std::string& script) -> Result<void> {
    return connection->script(script, deadline);
  };
  PENSTOCK_TRY(run(kLock));
  PENSTOCK_TRY(run(kBootstrap));
  const std::int32_t current = PENSTOCK_TRY(current_version(*connection, deadline));
  return migrate_from(current, to, [&](const SchemaStep& step) {
    // The simple protocol runs the whole text as one transaction: all of it or nothing.
    return run(
        fmt::format("BEGIN; SET LOCAL search_path = penstock; {};\n"
                    "INSERT INTO penstock.schema_version (version, name) VALUES ({}, '{}'); COMMIT",
                    step.script, step.version, step.name));
  });
}

Result<void> check_version(Connection& connection, const runtime::Deadline& deadline) {
  const std::int32_t current = PENSTOCK_TRY(current_version(connection, deadline));
  return check_schema_version(current, schema_version());
}

}  // namespace penstock::store::postgres
