// The .sql files of an engine's room, as the build embedded them (tools/embed_sql.py). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::store {

struct SqlFile {
  const char* name;  // the file's name without ".sql"; also the name of the prepared statement
  const char* text;
};

// A name that is not there is our own bug.
const SqlFile& sql_file(std::span<const SqlFile> files, std::string_view name) noexcept;

// The number that a migration's name begins with.
std::int32_t migration_number(const SqlFile& migration) noexcept;

}  // namespace penstock::store
