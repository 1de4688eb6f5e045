// The version of a schema in a database, and what to do when it is not this program's. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace penstock::store {

struct MigrationReport {
  std::int32_t from_version = 0;  // 0 = there was no schema
  std::int32_t to_version = 0;
  std::vector<std::string> applied;  // names of the migrations, in order
};

// `conflict`, with a sentence that says what to do, when `found` (0 = no schema) is not `known`.
Result<void> check_schema_version(std::int32_t found, std::int32_t known);

// The same for a migration, which may find any version but a newer one.
Result<void> check_can_migrate(std::int32_t found, std::int32_t known);

}  // namespace penstock::store
