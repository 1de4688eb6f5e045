#include "app/import/csv.h"

#include <algorithm>
#include <ranges>

namespace penstock::app {
namespace {

bool has_open_quote(std::string_view text) { return std::ranges::count(text, '"') % 2 != 0; }

// Takes the field at the front of `text`, up to its comma or the end.
Result<std::string> take_field(std::string_view& text) {
  std::string field;
  if (!text.starts_with('"')) {
    const std::size_t end = std::min(text.find(','), text.size());
    field = text.substr(0, end);
    text.remove_prefix(end);
    if (field.find('"') != field.npos) {
      return fail(ErrorKind::invalid, "has a quote inside a field that is not in quotes");
    }
    return field;
  }
  text.remove_prefix(1);
  for (;;) {
    const std::size_t quote = text.find('"');
    if (quote == text.npos) return fail(ErrorKind::invalid, "has a quote that is never closed");
    field += text.substr(0, quote);
    text.remove_prefix(quote + 1);
    if (!text.starts_with('"')) break;
    field += '"';
    text.remove_prefix(1);
  }
  if (!text.empty() && text.front() != ',') {
    return fail(ErrorKind::invalid, "has text between a closing quote and the next comma");
  }
  return field;
}

}  // namespace

Result<std::vector<std::string>> parse_csv_row(std::string_view text) {
  std::vector<std::string> fields;
  for (;;) {
    Result<std::string> field = take_field(text);
    if (!field) return std::unexpected(std::move(field.error()));
    fields.push_back(*std::move(field));
    if (text.empty()) return fields;
    text.remove_prefix(1);  // the comma
  }
}

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

void append_csv_field(std::string& out, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == field.npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace penstock::app
