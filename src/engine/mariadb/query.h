// What goes to MariaDB and comes from it: the embedded files, the text of a statement, the rows of
// an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql/schema.h"
#include "engine/sql/values.h"

struct st_mysql_res;

namespace penstock::store::mariadb {

using store::SqlFile;

std::span<const SqlFile> embedded_statements() noexcept;  // sql/, ordered by name
std::span<const SqlFile> embedded_tables() noexcept;      // schema.sql: the baseline
std::span<const SqlFile> embedded_migrations() noexcept;  // since then; ordered by number

// One of embedded_statements(); a name that is not there is our own bug.
inline const SqlFile& statement(std::string_view name) noexcept {
  return sql_file(embedded_statements(), name);
}

// An embedded file with a value in place of each `?`, in their order. Bytes are written as hex
// numbers, so that nothing needs quoting and no key can be taken for SQL. One thread at a time.
class Query {
 public:
  explicit Query(const SqlFile& file);

  Query& bytes(std::string_view value);
  Query& number(std::int64_t value);
  Query& number(std::optional<std::int64_t> value);  // empty = NULL
  Query& seconds(double value);
  Query& boolean(bool value) { return number(std::int64_t{value}); }
  Query& list(std::span<const std::string_view> values);  // one `?` becomes all of them

  // Several rows in place of one: `row(n)` fills the values of the n-th, each time with all that
  // stands in the innermost brackets around the next `?`.
  template <class FillRow>
  Query& rows(std::size_t count, FillRow&& fill) {
    const std::string_view row = open_row();
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ", ";
      rest_ = row;
      fill(*this, i);
      text_ += rest_;
    }
    close_row();
    return *this;
  }

  // All values are given.
  std::string text();
  std::size_t size() const noexcept { return text_.size(); }

 private:
  void to_next_place();
  void put_bytes(std::string_view value);
  std::string_view open_row();
  void close_row();

  std::string text_;
  std::string_view rest_;       // of the file, or of the row that is being written
  std::string_view after_row_;  // of the file
};

// An embedded statement with its values; see put_value.
template <class... Values>
std::string call(std::string_view name, const Values&... values) {
  struct Marks {
    Query query;
    void null() { query.number(std::nullopt); }
    void boolean(bool value) { query.boolean(value); }
    void int4(std::int32_t value) { query.number(std::int64_t{value}); }
    void int8(std::int64_t value) { query.number(value); }
    void text(std::string_view value) { query.bytes(value); }
    void column(std::span<const std::string_view> values) { query.list(values); }
  };
  Marks marks{Query(statement(name))};
  (put_value(marks, values), ...);
  return marks.query.text();
}

// The rows of one answer. Owns the answer; moves only.
class Rows : public Table<Rows> {
 public:
  Rows() noexcept : result_(nullptr, nullptr) {}
  explicit Rows(st_mysql_res* result);  // takes it over

  int size() const noexcept {
    return columns_ == 0 ? 0 : static_cast<int>(cells_.size() / columns_);
  }
  // A null reads as empty or zero; valid while the rows live.
  std::string_view text(int row, int column) const noexcept {
    return cells_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
  }
  bool null(int row, int column) const noexcept { return text(row, column).data() == nullptr; }
  std::int64_t number(int row, int column) const noexcept;

 private:
  std::unique_ptr<st_mysql_res, void (*)(st_mysql_res*)> result_;
  std::size_t columns_ = 0;
  std::vector<std::string_view> cells_;
};

}  // namespace penstock::store::mariadb
