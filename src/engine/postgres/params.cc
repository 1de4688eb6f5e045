#include "engine/postgres/params.h"

#include <array>
#include <cstddef>

namespace penstock::store::postgres {
namespace {

// Type numbers of pg_type.dat; they never change.
constexpr std::uint32_t kBytea = 17;
constexpr std::uint32_t kInt8 = 20;
constexpr std::uint32_t kInt4 = 23;
constexpr std::uint32_t kText = 25;

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

Params& Params::int8(std::optional<std::int64_t> value) {
  if (value) return int8(*value);
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

std::vector<const char*> Params::values() const {
  std::vector<const char*> pointers;
  pointers.reserve(begins_.size());
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    pointers.push_back(nulls_[i] ? nullptr : bytes_.data() + begins_[i]);
  }
  return pointers;
}

std::vector<int> Params::formats() const { return std::vector<int>(begins_.size(), 1); }

}  // namespace penstock::store::postgres
