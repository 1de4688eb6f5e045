// The rows of one answer. Owns the answer; moves only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

struct st_mysql_res;

namespace penstock::store::mariadb {

class Rows {
 public:
  Rows() noexcept : result_(nullptr, nullptr) {}
  explicit Rows(st_mysql_res* result);  // takes it over

  std::size_t size() const noexcept { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  // A null reads as empty or zero; valid while the rows live.
  std::string_view text(std::size_t row, std::size_t column) const noexcept {
    return cells_[row * columns_ + column];
  }
  std::int64_t number(std::size_t row, std::size_t column) const noexcept;

 private:
  std::unique_ptr<st_mysql_res, void (*)(st_mysql_res*)> result_;
  std::size_t columns_ = 0;
  std::vector<std::string_view> cells_;
};

}  // namespace penstock::store::mariadb
