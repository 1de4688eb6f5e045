// The .sql files of all capabilities on this engine.
#pragma once

#include <span>
#include <string_view>

#include "engine/sql/schema.h"

namespace penstock::store::postgres {

using store::SqlFile;

std::span<const SqlFile> embedded_statements() noexcept;  // sql/, ordered by name
// The baseline of the schema. Each capability has its part of it beside its code.
std::span<const SqlFile> embedded_tables() noexcept;     // schema.sql
std::span<const SqlFile> embedded_functions() noexcept;  // functions/
std::span<const SqlFile> embedded_views() noexcept;      // views.sql
// What was changed since; ordered by number.
std::span<const SqlFile> embedded_migrations() noexcept;

// One of embedded_statements(); a name that is not there is our own bug.
inline const SqlFile& statement(std::string_view name) noexcept {
  return sql_file(embedded_statements(), name);
}

}  // namespace penstock::store::postgres
