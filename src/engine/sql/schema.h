// The .sql files that the build embedded (tools/embed_texts.py), and the versions of the schema
// that they make: version 1 is the baseline, every migration is one more. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace penstock::store {

struct SqlFile {
  const char* name;  // the file's name without ".sql"; also the name of the prepared statement
  const char* text;
};

// A name that is not there is our own bug.
const SqlFile& sql_file(std::span<const SqlFile> files, std::string_view name) noexcept;

// The number that a migration's name begins with: "0002_more_columns" makes version 2.
std::int32_t migration_number(const SqlFile& migration) noexcept;

// What a program knows of its schema.
struct Schema {
  std::string baseline;                 // the script of version 1
  std::span<const SqlFile> migrations;  // version 2 and on, ascending, without a gap

  std::int32_t version() const noexcept;
};

struct MigrationReport {
  std::int32_t from_version = 0;  // 0 = there was no schema
  std::int32_t to_version = 0;
  std::vector<std::string> applied;  // names of the steps, in order
};

// One version more.
struct SchemaStep {
  std::int32_t version = 0;
  std::string_view name;
  std::string_view script;
};

// Has `apply` execute each step from `found` (0 = no schema) to the version of `schema`. `conflict`
// when `found` is newer; an error of a step ends it and names the step.
Result<MigrationReport> migrate_from(std::int32_t found, const Schema& schema,
                                     const std::function<Result<void>(const SchemaStep&)>& apply);

// `conflict`, with a sentence that says what to do, when `found` (0 = no schema) is not `known`.
Result<void> check_schema_version(std::int32_t found, std::int32_t known);

}  // namespace penstock::store
