// The schema `penstock` in the database: what version it has, and how it gets to ours. Blocking.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/postgres/connection.h"
#include "engine/sql/schema_version.h"

namespace penstock::store::postgres {

// The version this program works with.
std::int32_t schema_version() noexcept;

// The version of the schema in the database; 0 = there is none.
DatabaseResult<std::int32_t> current_version(Connection& connection,
                                             const runtime::Deadline& deadline);

// Brings the schema to our version, one transaction per migration, one program at a time. Needs a
// role that may create in the database. `conflict` when the schema is newer than this program.
Result<MigrationReport> migrate(const ConnectOptions& options);

// `conflict`, with a sentence that says what to do, when the schema is not of our version.
Result<void> check_version(Connection& connection, const runtime::Deadline& deadline);

}  // namespace penstock::store::postgres
