#include "engine/postgres/binary.h"

#include <libpq-fe.h>

#include <array>
#include <cstddef>

#include "base/check.h"

namespace penstock::store::postgres {
namespace {

// Type numbers of pg_type.dat; they never change.
constexpr std::uint32_t kBytea = 17;
constexpr std::uint32_t kInt8 = 20;
constexpr std::uint32_t kInt4 = 23;
constexpr std::uint32_t kText = 25;

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
  return value;
}

std::int64_t integer(std::string_view bytes) noexcept {
  switch (bytes.size()) {
    case 1:  // a boolean
      return bytes.front() != 0 ? 1 : 0;
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

template <class Unsigned>
void Params::put(Unsigned value) {
  std::array<char, sizeof(Unsigned)> big_endian;
  for (std::size_t i = sizeof(Unsigned); i-- > 0; value = static_cast<Unsigned>(value >> 8)) {
    big_endian[i] = static_cast<char>(value & 0xff);
  }
  bytes_.append(big_endian.data(), big_endian.size());
}

void Params::begin() { begins_.push_back(bytes_.size()); }

void Params::end(bool null) {
  lengths_.push_back(static_cast<int>(bytes_.size() - begins_.back()));
  nulls_.push_back(null);
}

// Dimensions, no nulls, element type, then count and lower bound of the one dimension.
void Params::put_array_head(std::uint32_t element_type, std::size_t count) {
  put<std::uint32_t>(count == 0 ? 0 : 1);
  put<std::uint32_t>(0);
  put<std::uint32_t>(element_type);
  if (count == 0) return;
  put<std::uint32_t>(static_cast<std::uint32_t>(count));
  put<std::uint32_t>(1);
}

Params& Params::text(std::string_view value) {
  begin();
  bytes_.append(value);
  end();
  return *this;
}

Params& Params::boolean(bool value) {
  begin();
  bytes_.push_back(value ? 1 : 0);
  end();
  return *this;
}

Params& Params::int4(std::int32_t value) {
  begin();
  put(static_cast<std::uint32_t>(value));
  end();
  return *this;
}

Params& Params::int8(std::int64_t value) {
  begin();
  put(static_cast<std::uint64_t>(value));
  end();
  return *this;
}

Params& Params::null() {
  begin();
  end(/*null=*/true);
  return *this;
}

Params& Params::strings(std::uint32_t element_type, std::span<const std::string_view> values) {
  begin();
  put_array_head(element_type, values.size());
  for (const std::string_view value : values) {
    put(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
  }
  end();
  return *this;
}

Params& Params::texts(std::span<const std::string_view> values) { return strings(kText, values); }

Params& Params::byteas(std::span<const std::string_view> values) { return strings(kBytea, values); }

Params& Params::int4s(std::span<const std::int32_t> values) {
  begin();
  put_array_head(kInt4, values.size());
  for (const std::int32_t value : values) {
    put<std::uint32_t>(sizeof(value));
    put(static_cast<std::uint32_t>(value));
  }
  end();
  return *this;
}

Params& Params::int8s(std::span<const std::int64_t> values) {
  begin();
  put_array_head(kInt8, values.size());
  for (const std::int64_t value : values) {
    put<std::uint32_t>(sizeof(value));
    put(static_cast<std::uint64_t>(value));
  }
  end();
  return *this;
}

void Params::column(std::span<const Instant> values) {
  std::vector<std::int64_t> micros;
  for (const Instant value : values) micros.push_back(epoch_us(value));
  int8s(micros);
}

std::vector<const char*> Params::values() const {
  std::vector<const char*> pointers;
  pointers.reserve(begins_.size());
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    pointers.push_back(nulls_[i] ? nullptr : bytes_.data() + begins_[i]);
  }
  return pointers;
}

std::vector<int> Params::formats() const { return std::vector<int>(begins_.size(), 1); }

Rows::Rows(pg_result* result) noexcept : result_(result, PQclear), size_(PQntuples(result)) {}

bool Rows::null(int row, int column) const noexcept {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Rows::text(int row, int column) const noexcept {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::number(int row, int column) const noexcept { return integer(text(row, column)); }

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
