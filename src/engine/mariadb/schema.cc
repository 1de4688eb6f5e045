#include "engine/mariadb/schema.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/mariadb/query.h"

namespace penstock::store::mariadb {
namespace {

// A large table may take long to change; a migration that waits for another one gives up sooner.
constexpr Millis kMigrationLimit = std::chrono::hours{1};
constexpr std::int64_t kMigrationLockSeconds = 30;

std::string baseline() {
  std::string script;
  for (const SqlFile& file : embedded_tables()) script += file.text;
  return script;
}

// The statements of a script. They end with a semicolon at the end of a line.
std::vector<std::string> statements_of(std::string_view text) {
  std::vector<std::string> statements;
  for (std::size_t end = text.find(";\n"); end != text.npos; end = text.find(";\n")) {
    statements.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 2);
  }
  return statements;
}

DatabaseResult<void> apply(Connection& connection, const SchemaStep& step,
                           const runtime::Deadline& deadline) {
  std::vector<std::string> statements = statements_of(step.script);
  statements.push_back(call("put_schema_version", step.version, step.name));
  for (std::string& text : statements) PENSTOCK_TRY(connection.run(std::move(text), deadline));
  return {};
}

// One program at a time from here on, until the connection ends.
Result<void> lock(Connection& connection, const runtime::Deadline& deadline) {
  const Rows locked =
      PENSTOCK_TRY(connection.run(call("lock_schema", kMigrationLockSeconds), deadline));
  if (locked.number(0, 0) == 1) return {};
  return fail(ErrorKind::timeout, "another migration of this database is still running");
}

}  // namespace

DatabaseResult<std::int32_t> current_version(Connection& connection,
                                             const runtime::Deadline& deadline) {
  const auto rows = connection.run(call("schema_version"), deadline);
  if (rows) return static_cast<std::int32_t>(rows->number(0, 0));
  if (rows.error().code == kNoSuchTable) return 0;
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
  patient.idle_transaction_timeout = kMigrationLimit;
  const runtime::Deadline deadline(kMigrationLimit);
  const auto connection = PENSTOCK_TRY(Connection::open(patient, runtime::Deadline(Seconds{10})));
  PENSTOCK_TRY(lock(*connection, deadline));
  PENSTOCK_TRY(connection->run(call("make_schema_version"), deadline));
  const std::int32_t current = PENSTOCK_TRY(current_version(*connection, deadline));
  return migrate_from(current, to, [&](const SchemaStep& step) -> Result<void> {
    return apply(*connection, step, deadline);
  });
}

DatabaseResult<void> check_version(Connection& connection, const runtime::Deadline& deadline) {
  const std::int32_t current = PENSTOCK_TRY(current_version(connection, deadline));
  Result<void> fits = check_schema_version(current, schema_version());
  if (!fits) return std::unexpected(DatabaseError{.error = std::move(fits.error())});
  return {};
}

}  // namespace penstock::store::mariadb
