// C++ values to the parameters of a statement, and the columns of an answer back. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/time.h"

namespace penstock::store {

// A moment as schemas keep it: microseconds since the epoch. Empty = null, for which statements
// take the database's clock.
inline std::int64_t epoch_us(Instant instant) { return instant.time_since_epoch().count(); }
inline std::optional<std::int64_t> epoch_us(std::optional<Instant> instant) {
  return instant ? std::optional(epoch_us(*instant)) : std::nullopt;
}
inline Instant from_epoch_us(std::int64_t count) { return Instant{Micros{count}}; }

// For LIMIT and its kind.
inline std::int64_t int8_of(std::size_t number) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, kMost));
}

template <class T>
inline constexpr bool is_optional_v = false;
template <class T>
inline constexpr bool is_optional_v<std::optional<T>> = true;
template <class T>
inline constexpr bool is_duration_v = false;
template <class Count, class Period>
inline constexpr bool is_duration_v<std::chrono::duration<Count, Period>> = true;

// Gives `to` one value, by its type: to.text(), int4(), int8(), boolean(), null(). Moments and
// durations become microseconds, ids their text.
template <class To, class T>
void put_value(To& to, const T& value) {
  if constexpr (is_optional_v<T>) {
    value ? put_value(to, *value) : static_cast<void>(to.null());
  } else if constexpr (std::is_same_v<T, bool>) {
    to.boolean(value);
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    to.int4(value);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    to.int8(value);
  } else if constexpr (std::is_same_v<T, std::size_t>) {
    to.int8(int8_of(value));
  } else if constexpr (std::is_same_v<T, Instant>) {
    to.int8(epoch_us(value));
  } else if constexpr (is_duration_v<T>) {
    to.int8(std::int64_t{Micros{value}.count()});
  } else if constexpr (requires { value.str(); }) {
    to.text(value.str());
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    to.text(value);
  } else {
    to.column(value);  // one value for each of many rows
  }
}

// One column of many things, for a parameter that is an array: texts as views of what `all` holds.
template <class All, class Of>
auto column(const All& all, Of of) {
  using Value = std::invoke_result_t<Of, std::ranges::range_reference_t<const All>>;
  if constexpr (requires(const Value& value) { value.str(); }) {
    static_assert(std::is_reference_v<Value>, "a view of what goes away");
    std::vector<std::string_view> values;
    for (const auto& each : all) values.emplace_back(std::invoke(of, each).str());
    return values;
  } else {
    using Kept = std::conditional_t<std::is_convertible_v<Value, std::string_view>,
                                    std::string_view, std::remove_cvref_t<Value>>;
    std::vector<Kept> values;
    for (const auto& each : all) values.emplace_back(std::invoke(of, each));
    return values;
  }
}

template <class T>
concept Readable = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Instant> ||
                   std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

// One value of an answer, read as the type of what it is assigned to. A null reads as zero or
// empty, by maybe() as nothing. Views live as long as the rows.
template <class Rows>
class Cell {
 public:
  Cell(const Rows& rows, int row, int column) : rows_(&rows), row_(row), column_(column) {}

  bool null() const { return rows_->null(row_, column_); }
  template <Readable T>
  T as() const {
    if constexpr (std::is_same_v<T, bool>) {
      return rows_->number(row_, column_) != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      return static_cast<T>(rows_->number(row_, column_));
    } else if constexpr (std::is_same_v<T, Instant>) {
      return from_epoch_us(rows_->number(row_, column_));
    } else {
      return T(rows_->text(row_, column_));
    }
  }
  // Nothing for a null.
  template <Readable T>
  std::optional<T> maybe() const {
    return null() ? std::nullopt : std::optional(as<T>());
  }
  // NOLINTBEGIN(google-explicit-constructor)
  template <Readable T>
  operator T() const {
    return as<T>();
  }
  // Warns where an optional is made of a cell as it is, which would never be empty: say maybe<T>().
  template <Readable T>
  operator std::optional<T>() const = delete;
  // NOLINTEND(google-explicit-constructor)

 private:
  const Rows* rows_;
  int row_;
  int column_;
};

// What the answers of all engines have in common. `Rows` derives from it.
template <class Rows>
class Table {
 public:
  struct Row {
    const Rows* rows;
    int number;
    Cell<Rows> operator[](int column) const { return {*rows, number, column}; }
  };
  struct Iterator {
    Row row;
    Row operator*() const { return row; }
    Iterator& operator++() { return ++row.number, *this; }
    bool operator==(const Iterator& other) const { return row.number == other.row.number; }
  };

  Row operator[](int row) const { return {&self(), row}; }
  Iterator begin() const { return {(*this)[0]}; }
  Iterator end() const { return {(*this)[self().size()]}; }
  bool empty() const { return self().size() == 0; }

  // What `read` makes of each row.
  template <class Read>
  auto map(Read read) const {
    std::vector<std::invoke_result_t<Read, Row>> out;
    out.reserve(static_cast<std::size_t>(self().size()));
    for (const Row row : *this) out.push_back(read(row));
    return out;
  }

 private:
  const Rows& self() const { return static_cast<const Rows&>(*this); }
};

}  // namespace penstock::store
