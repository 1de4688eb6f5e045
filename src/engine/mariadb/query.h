// The text of one statement: an embedded file with a value in place of each `?`, in their order.
// Bytes are written as hex numbers, so that nothing needs quoting and no key can be taken for SQL.
// A value of its own; one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "engine/mariadb/sql.h"

namespace penstock::store::mariadb {

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

// For LIMIT.
inline std::int64_t limit_of(std::size_t limit) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, kMost));
}

// A statement without values.
inline std::string statement_text(std::string_view name) { return Query(statement(name)).text(); }

// An instant as the schema keeps it; empty = NULL, for which statements take the server's clock.
inline std::optional<std::int64_t> micros_of(std::optional<Instant> now) {
  return now ? std::optional(now->time_since_epoch().count()) : std::nullopt;
}

}  // namespace penstock::store::mariadb
