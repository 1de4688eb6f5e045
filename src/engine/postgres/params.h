// The parameters of one statement in PostgreSQL's binary form, arrays included: no quoting, no text
// parsing on either side. Build once, send once. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::store::postgres {

class Params {
 public:
  Params& text(std::string_view value);
  Params& bytea(std::string_view value) { return text(value); }  // the same bytes
  Params& boolean(bool value);
  Params& int4(std::int32_t value);
  Params& int8(std::int64_t value);
  Params& int8(std::optional<std::int64_t> value);  // empty = null
  Params& texts(std::span<const std::string_view> values);
  Params& byteas(std::span<const std::string_view> values);
  Params& int4s(std::span<const std::int32_t> values);
  Params& int8s(std::span<const std::int64_t> values);

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

}  // namespace penstock::store::postgres
