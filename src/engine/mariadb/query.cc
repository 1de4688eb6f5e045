#include "engine/mariadb/query.h"

#include <fmt/format.h>
#include <mariadb/mysql.h>

#include <charconv>
#include <utility>

#include "base/check.h"

namespace penstock::store::mariadb {
namespace {

std::string_view without_header(std::string_view text) {
  while (text.starts_with("--")) text.remove_prefix(text.find('\n') + 1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

Query::Query(const SqlFile& file) : rest_(without_header(file.text)) {}

void Query::to_next_place() {
  const std::size_t place = rest_.find('?');
  PENSTOCK_CHECK(place != rest_.npos);
  text_ += rest_.substr(0, place);
  rest_.remove_prefix(place + 1);
}

void Query::put_bytes(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t start = text_.size();
  text_.resize(start + 3 + 2 * value.size());
  char* out = text_.data() + start;
  *out++ = 'x';
  *out++ = '\'';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    *out++ = kDigits[byte >> 4];
    *out++ = kDigits[byte & 15];
  }
  *out = '\'';
}

Query& Query::bytes(std::string_view value) {
  to_next_place();
  put_bytes(value);
  return *this;
}

Query& Query::number(std::int64_t value) {
  to_next_place();
  text_ += std::to_string(value);
  return *this;
}

Query& Query::number(std::optional<std::int64_t> value) {
  if (value) return number(*value);
  to_next_place();
  text_ += "NULL";
  return *this;
}

Query& Query::seconds(double value) {
  to_next_place();
  text_ += fmt::format("{:.3f}", value);
  return *this;
}

Query& Query::list(std::span<const std::string_view> values) {
  PENSTOCK_CHECK(!values.empty());
  to_next_place();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text_ += ',';
    put_bytes(values[i]);
  }
  return *this;
}

std::string_view Query::open_row() {
  const std::size_t place = rest_.find('?');
  const std::size_t begin = rest_.rfind('(', place);
  PENSTOCK_CHECK(place != rest_.npos && begin != rest_.npos);
  std::size_t end = begin + 1;
  for (int depth = 1; depth > 0; ++end) {
    PENSTOCK_CHECK(end < rest_.size());
    depth += rest_[end] == '(' ? 1 : (rest_[end] == ')' ? -1 : 0);
  }
  text_ += rest_.substr(0, begin);
  after_row_ = rest_.substr(end);
  return rest_.substr(begin, end - begin);
}

void Query::close_row() { rest_ = after_row_; }

std::string Query::text() {
  PENSTOCK_CHECK(rest_.find('?') == rest_.npos);
  text_ += rest_;
  return std::move(text_);
}

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

std::int64_t Rows::number(int row, int column) const noexcept {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace penstock::store::mariadb
