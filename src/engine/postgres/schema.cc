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

DatabaseResult<void> apply(Connection& connection, const SqlFile& migration,
                           const runtime::Deadline& deadline) {
  // The simple protocol runs the whole text as one transaction: all of it or nothing.
  return connection.script(
      fmt::format("BEGIN; SET LOCAL search_path = penstock; {};\n"
                  "INSERT INTO penstock.schema_version (version, name) VALUES ({}, '{}'); COMMIT",
                  migration.text, migration_number(migration), migration.name),
      deadline);
}

}  // namespace

DatabaseResult<std::int32_t> current_version(Connection& connection,
                                             const runtime::Deadline& deadline) {
  const auto rows = connection.run({.sql = statement("schema_version")}, deadline);
  if (rows) return rows->int4(0, 0);
  constexpr std::string_view kNoTable = "42P01";
  constexpr std::string_view kNoSchema = "3F000";
  if (rows.error().sqlstate == kNoTable || rows.error().sqlstate == kNoSchema) return 0;
  return std::unexpected(rows.error());
}

std::int32_t schema_version() noexcept { return migration_number(embedded_migrations().back()); }

Result<MigrationReport> migrate(const ConnectOptions& options) {
  ConnectOptions patient = options;
  patient.statement_timeout = kMigrationLimit;
  patient.lock_timeout = kMigrationLockLimit;
  const runtime::Deadline deadline(kMigrationLimit);
  auto connection = Connection::open(patient, runtime::Deadline(Seconds{10}));
  if (!connection) return std::unexpected(std::move(connection.error().error));
  for (const char* step : {kLock, kBootstrap}) {
    if (auto done = (*connection)->script(step, deadline); !done) {
      return std::unexpected(std::move(done.error().error));
    }
  }
  const auto current = current_version(**connection, deadline);
  if (!current) return std::unexpected(current.error().error);
  if (Result<void> older = check_can_migrate(*current, schema_version()); !older) {
    return std::unexpected(std::move(older.error()));
  }
  MigrationReport report{.from_version = *current, .to_version = *current, .applied = {}};
  for (const SqlFile& migration : embedded_migrations()) {
    if (migration_number(migration) <= *current) continue;
    if (auto done = apply(**connection, migration, deadline); !done) {
      Error error = std::move(done.error().error);
      error.what = fmt::format("migration {}: {}", migration.name, error.what);
      return std::unexpected(std::move(error));  // the connection's end rolls it back
    }
    report.applied.emplace_back(migration.name);
    report.to_version = migration_number(migration);
  }
  return report;
}

Result<void> check_version(Connection& connection, const runtime::Deadline& deadline) {
  const auto current = current_version(connection, deadline);
  if (!current) return std::unexpected(current.error().error);
  return check_schema_version(*current, schema_version());
}

}  // namespace penstock::store::postgres
