#include "tool/import/csv.h"

#include <algorithm>
#include <ranges>

namespace penstock::tool {
namespace {

bool has_open_quote(std::string_view text) { return std::ranges::count(text, '"') % 2 != 0; }

}  // namespace

Result<bool> CsvReader::next(CsvRow& row) {
  row.fields.clear();
  row.problem.clear();
  Line line;
  do {
    const Result<bool> more = input_.next(line);
    if (!more || !*more) return more;
    // Before a line break inside quotes it is data.
    if (line.text.ends_with('\r') && !has_open_quote(line.text)) line.text.pop_back();
  } while (line.text.empty());
  row.line = line.number;
  row.text = std::move(line.text);
  if (line.too_long) {
    row.problem = "is longer than 64 KiB";
    return true;
  }

  const std::size_t first_line_bytes = row.text.size();
  std::vector<Line> rest;  // the lines after the first that belong to this row
  if (const Result<bool> joined = join_quoted_lines(row, rest); !joined) return joined;
  Result<std::vector<std::string>> fields = parse_csv_row(row.text);
  if (fields) {
    row.fields = *std::move(fields);
    return true;
  }
  // A stray quote must not take the rows behind it along: only its own line is bad.
  row.problem = std::move(fields.error().what);
  row.text.resize(first_line_bytes);
  if (row.text.ends_with('\r')) row.text.pop_back();
  for (Line& taken : rest | std::views::reverse) input_.put_back(std::move(taken));
  return true;
}

// Line breaks inside quotes are data; a row stays within the limit of a line.
Result<bool> CsvReader::join_quoted_lines(CsvRow& row, std::vector<Line>& rest) {
  bool open = has_open_quote(row.text);
  while (open && row.text.size() < TextInput::kLineBytesMax) {
    Line line;
    const Result<bool> more = input_.next(line);
    if (!more || !*more) return more;
    rest.push_back(line);
    open ^= has_open_quote(line.text);
    if (!open && line.text.ends_with('\r')) line.text.pop_back();
    row.text += '\n';
    row.text += line.text;
  }
  return true;
}

}  // namespace penstock::tool
