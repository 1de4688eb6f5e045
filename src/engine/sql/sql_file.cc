#include "engine/sql/sql_file.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace penstock::store {

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

}  // namespace penstock::store
