#include "engine/postgres/rows.h"

#include <libpq-fe.h>

#include <cstddef>

#include "base/check.h"

namespace penstock::store::postgres {
namespace {

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
  return value;
}

std::int64_t integer(std::string_view bytes) noexcept {
  switch (bytes.size()) {
    case 2:
      return static_cast<std::int16_t>(big_endian(bytes));
    case 4:
      return static_cast<std::int32_t>(big_endian(bytes));
    case 8:
      return static_cast<std::int64_t>(big_endian(bytes));
    default:
      return 0;  // a null
  }
}

// Walks a one-dimensional array: dimensions, null flag, type, count, lower bound, then elements.
template <class Visit>
void each_element(std::string_view bytes, Visit&& visit) {
  constexpr std::size_t kHead = 20;
  if (bytes.size() < kHead) return;  // null or empty
  const std::size_t count = big_endian(bytes.substr(12, 4));
  std::size_t at = kHead;
  for (std::size_t i = 0; i < count; ++i) {
    PENSTOCK_CHECK(at + 4 <= bytes.size());
    const auto length = static_cast<std::int32_t>(big_endian(bytes.substr(at, 4)));
    at += 4;
    const std::size_t size = length < 0 ? 0 : static_cast<std::size_t>(length);
    PENSTOCK_CHECK(at + size <= bytes.size());
    visit(bytes.substr(at, size));
    at += size;
  }
}

}  // namespace

Rows::Rows(pg_result* result) noexcept : result_(result, PQclear), size_(PQntuples(result)) {}

bool Rows::null(int row, int column) const noexcept {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Rows::text(int row, int column) const noexcept {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int16_t Rows::int2(int row, int column) const noexcept {
  return static_cast<std::int16_t>(integer(text(row, column)));
}

std::int32_t Rows::int4(int row, int column) const noexcept {
  return static_cast<std::int32_t>(integer(text(row, column)));
}

std::int64_t Rows::int8(int row, int column) const noexcept { return integer(text(row, column)); }

bool Rows::boolean(int row, int column) const noexcept {
  const std::string_view bytes = text(row, column);
  return !bytes.empty() && bytes.front() != 0;
}

std::vector<std::int64_t> Rows::integers(int row, int column) const {
  std::vector<std::int64_t> values;
  each_element(text(row, column),
               [&](std::string_view element) { values.push_back(integer(element)); });
  return values;
}

std::vector<std::string_view> Rows::texts(int row, int column) const {
  std::vector<std::string_view> values;
  each_element(text(row, column), [&](std::string_view element) { values.push_back(element); });
  return values;
}

}  // namespace penstock::store::postgres
