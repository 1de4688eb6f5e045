// Text in columns, for people. Pure; safe on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cli {

enum class Align : std::uint8_t { left, right };

struct Heading {
  std::string_view label;
  Align align = Align::left;
};

using Row = std::vector<std::string>;

// Rows under headings. Columns are as wide as their widest cell so far: pages that are shown one
// after the other stand under each other unless a later one needs more room.
class Table {
 public:
  explicit Table(std::vector<Heading> headings);

  std::string header() const;
  // Makes room for `rows`; header() and the rows that follow use it.
  void fit(std::span<const Row> rows);
  // Cells that a row lacks are empty; nothing stands at the end of a line.
  std::string line(const Row& row) const;

 private:
  const std::vector<Heading> headings_;
  std::vector<std::size_t> widths_;
};

// `label  value` lines with the values under each other; empty values are left out.
struct Fact {
  std::string label;
  std::string value;
};
std::string fact_lines(std::span<const Fact> facts);

// Columns that `text` takes: characters, not bytes.
std::size_t text_columns(std::string_view text) noexcept;

// The same in one line that no terminal obeys: control characters and broken UTF-8 as \xHH, line
// breaks as \n.
std::string one_line(std::string_view text);

}  // namespace penstock::cli
