// The schema `penstock` in the database: what version it has, and how it gets to ours. Blocking.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/postgres/connection.h"
#include "engine/sql/schema.h"

namespace penstock::store::postgres {

// The schema this program works with, and its version.
const Schema& schema();
std::int32_t schema_version();

// The version of the schema in the database; 0 = there is none.
DatabaseResult<std::int32_t> current_version(Connection& connection,
                                             const runtime::Deadline& deadline);

// Brings the schema to the version of `to`, one transaction for each version, one program at a
// time. Needs a role that may create in the database. `conflict` when the schema is newer than this
// program.
Result<MigrationReport> migrate(const ConnectOptions& options, const Schema& to = schema());

// `conflict`, with a sentence that says what to do, when the schema is not of our version.
Result<void> check_version(Connection& connection, const runtime::Deadline& deadline);

}  // namespace penstock::store::postgres
