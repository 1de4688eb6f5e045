// The .sql files of all capabilities on this engine.
#pragma once

#include <span>
#include <string_view>

#include "engine/sql/schema.h"

namespace penstock::store::mariadb {

using store::SqlFile;

std::span<const SqlFile> embedded_statements() noexcept;  // sql/, ordered by name
std::span<const SqlFile> embedded_tables() noexcept;      // schema.sql: the baseline
std::span<const SqlFile> embedded_migrations() noexcept;  // since then; ordered by number

// One of embedded_statements(); a name that is not there is our own bug.
inline const SqlFile& statement(std::string_view name) noexcept {
  return sql_file(embedded_statements(), name);
}

}  // namespace penstock::store::mariadb
