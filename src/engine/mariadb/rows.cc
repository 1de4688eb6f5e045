#include "engine/mariadb/rows.h"

#include <mariadb/mysql.h>

#include <charconv>

namespace penstock::store::mariadb {

Rows::Rows(st_mysql_res* result)
    : result_(result, mysql_free_result), columns_(mysql_num_fields(result)) {
  cells_.reserve(columns_ * static_cast<std::size_t>(mysql_num_rows(result)));
  while (const MYSQL_ROW row = mysql_fetch_row(result)) {
    const unsigned long* lengths = mysql_fetch_lengths(result);
    for (std::size_t i = 0; i < columns_; ++i) {
      cells_.push_back(row[i] == nullptr ? std::string_view()
                                         : std::string_view(row[i], lengths[i]));
    }
  }
}

std::int64_t Rows::number(std::size_t row, std::size_t column) const noexcept {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace penstock::store::mariadb
