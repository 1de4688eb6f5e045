#include "engine/sql/schema.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace penstock::store {
namespace {

Result<void> check_not_newer(std::int32_t found, std::int32_t known) {
  if (found <= known) return {};
  return fail(ErrorKind::conflict, "the database has schema version " + std::to_string(found) +
                                       ", this program knows " + std::to_string(known) +
                                       ": run a newer penstock");
}

}  // namespace

const SqlFile& sql_file(std::span<const SqlFile> files, std::string_view name) noexcept {
  const auto found = std::ranges::find(
      files, name, [](const SqlFile& file) { return std::string_view(file.name); });
  PENSTOCK_CHECK(found != files.end());
  return *found;
}

std::int32_t migration_number(const SqlFile& migration) noexcept {
  const std::string_view name = migration.name;
  std::int32_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  PENSTOCK_CHECK(parsed.ec == std::errc{} && number > 0);
  return number;
}

std::int32_t Schema::version() const noexcept {
  return migrations.empty() ? 1 : migration_number(migrations.back());
}

Result<MigrationReport> migrate_from(std::int32_t found, const Schema& schema,
                                     const std::function<Result<void>(const SchemaStep&)>& apply) {
  PENSTOCK_TRY(check_not_newer(found, schema.version()));
  std::vector<SchemaStep> steps = {{1, "0001_baseline", schema.baseline}};
  for (const SqlFile& file : schema.migrations) {
    steps.push_back({migration_number(file), file.name, file.text});
  }
  MigrationReport report{.from_version = found, .to_version = found, .applied = {}};
  for (const SchemaStep& step : steps) {
    if (step.version <= found) continue;
    if (Result<void> done = apply(step); !done) {
      Error error = std::move(done.error());
      error.what = "migration " + std::string(step.name) + ": " + error.what;
      return std::unexpected(std::move(error));
    }
    report.applied.emplace_back(step.name);
    report.to_version = step.version;
  }
  return report;
}

Result<void> check_schema_version(std::int32_t found, std::int32_t known) {
  if (found == known) return {};
  PENSTOCK_TRY(check_not_newer(found, known));
  return fail(ErrorKind::conflict,
              found == 0
                  ? std::string("the database has no schema penstock yet: run `penstock migrate`")
                  : "the database has schema version " + std::to_string(found) +
                        ", this program needs " + std::to_string(known) +
                        ": run `penstock migrate`");
}

}  // namespace penstock::store
