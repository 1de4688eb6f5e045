// The rows of one answer, read from PostgreSQL's binary form. Owns the answer; moves only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pg_result;

namespace penstock::store::postgres {

class Rows {
 public:
  Rows() noexcept : result_(nullptr, nullptr) {}
  explicit Rows(pg_result* result) noexcept;  // takes it over

  int size() const noexcept { return size_; }
  bool null(int row, int column) const noexcept;
  // Of a column of exactly that type; a null reads as zero or empty.
  std::int16_t int2(int row, int column) const noexcept;
  std::int32_t int4(int row, int column) const noexcept;
  std::int64_t int8(int row, int column) const noexcept;
  bool boolean(int row, int column) const noexcept;
  std::string_view text(int row, int column) const noexcept;  // valid while the rows live
  // One-dimensional arrays of any integer type; nulls inside read as zero.
  std::vector<std::int64_t> integers(int row, int column) const;
  std::vector<std::string_view> texts(int row, int column) const;
  std::optional<std::int64_t> maybe_int8(int row, int column) const noexcept {
    return null(row, column) ? std::nullopt : std::optional(int8(row, column));
  }

 private:
  std::unique_ptr<pg_result, void (*)(pg_result*)> result_;
  int size_ = 0;
};

}  // namespace penstock::store::postgres
