// Our tables in the database: what version they have, and how they get to ours. Blocking.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/mariadb/connection.h"
#include "engine/sql/schema.h"

namespace penstock::store::mariadb {

// The tables this program works with, and their version.
const Schema& schema();
std::int32_t schema_version();

// The version of the tables in the database; 0 = there are none.
DatabaseResult<std::int32_t> current_version(Connection& connection,
                                             const runtime::Deadline& deadline);

// Brings the tables to the version of `to`, one program at a time. Needs an account that may create
// and alter tables. `conflict` when they are newer than this program.
Result<MigrationReport> migrate(const ConnectOptions& options, const Schema& to = schema());

// `conflict`, with a sentence that says what to do, when the tables are not of our version.
DatabaseResult<void> check_version(Connection& connection, const runtime::Deadline& deadline);

}  // namespace penstock::store::mariadb
