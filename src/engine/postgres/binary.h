// What goes to PostgreSQL and comes from it: the embedded files, and values in binary form, arrays
// included: no quoting, no text parsing on either side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql/schema.h"
#include "engine/sql/values.h"

struct pg_result;

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

// A column of bytes. One value alone needs no word for it: bytea and text are the same bytes.
struct Bytes {
  std::vector<std::string_view> values;
};

// The parameters of one statement. Build once, send once. One thread at a time.
class Params {
 public:
  // By their types: see put_value.
  template <class... Values>
  static Params of(const Values&... values) {
    Params params;
    (put_value(params, values), ...);
    return params;
  }

  Params& null();
  Params& text(std::string_view value);
  Params& boolean(bool value);
  Params& int4(std::int32_t value);
  Params& int8(std::int64_t value);
  Params& texts(std::span<const std::string_view> values);
  Params& byteas(std::span<const std::string_view> values);
  Params& int4s(std::span<const std::int32_t> values);
  Params& int8s(std::span<const std::int64_t> values);
  void column(std::span<const std::string_view> values) { texts(values); }
  void column(std::span<const std::int32_t> values) { int4s(values); }
  void column(std::span<const std::int64_t> values) { int8s(values); }
  void column(std::span<const Instant> values);
  void column(const Bytes& values) { byteas(values.values); }

  int size() const noexcept { return static_cast<int>(lengths_.size()); }
  // In the form that libpq takes; valid until the next change.
  std::vector<const char*> values() const;
  const std::vector<int>& lengths() const noexcept { return lengths_; }
  std::vector<int> formats() const;  // all binary

 private:
  void begin();
  void end(bool null = false);
  template <class Unsigned>
  void put(Unsigned value);
  Params& strings(std::uint32_t element_type, std::span<const std::string_view> values);
  void put_array_head(std::uint32_t element_type, std::size_t count);

  std::string bytes_;
  std::vector<std::size_t> begins_;
  std::vector<int> lengths_;
  std::vector<bool> nulls_;
};

// The rows of one answer. Owns the answer; moves only.
class Rows : public Table<Rows> {
 public:
  Rows() noexcept : result_(nullptr, nullptr) {}
  explicit Rows(pg_result* result) noexcept;  // takes it over

  int size() const noexcept { return size_; }
  bool null(int row, int column) const noexcept;
  // A null reads as zero or empty.
  std::int64_t number(int row, int column) const noexcept;  // of any integer type, or boolean
  std::int32_t int4(int row, int column) const noexcept {
    return static_cast<std::int32_t>(number(row, column));
  }
  std::int64_t int8(int row, int column) const noexcept { return number(row, column); }
  std::string_view text(int row, int column) const noexcept;  // valid while the rows live
  // One-dimensional arrays of any integer type; nulls inside read as zero.
  std::vector<std::int64_t> integers(int row, int column) const;
  std::vector<std::string_view> texts(int row, int column) const;

 private:
  std::unique_ptr<pg_result, void (*)(pg_result*)> result_;
  int size_ = 0;
};

}  // namespace penstock::store::postgres
