#include "engine/sql/schema_version.h"

namespace penstock::store {

Result<void> check_can_migrate(std::int32_t found, std::int32_t known) {
  if (found <= known) return {};
  return fail(ErrorKind::conflict, "the database has schema version " + std::to_string(found) +
                                       ", this program knows " + std::to_string(known) +
                                       ": run a newer penstock");
}

Result<void> check_schema_version(std::int32_t found, std::int32_t known) {
  if (found == known) return {};
  if (Result<void> not_newer = check_can_migrate(found, known); !not_newer) return not_newer;
  return fail(ErrorKind::conflict,
              found == 0
                  ? std::string("the database has no schema penstock yet: run `penstock migrate`")
                  : "the database has schema version " + std::to_string(found) +
                        ", this program needs " + std::to_string(known) +
                        ": run `penstock migrate`");
}

}  // namespace penstock::store
