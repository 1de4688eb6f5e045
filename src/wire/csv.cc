#include "wire/csv.h"

#include <algorithm>

namespace penstock::wire {
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

// The row at the front of `text`, with the line breaks inside its quotes; a quote that is never
// closed takes all that is left.
std::string_view front_row(std::string_view text) {
  std::size_t end = 0;
  bool open = false;
  for (;;) {
    const std::size_t newline = std::min(text.find('\n', end), text.size());
    open ^= has_open_quote(text.substr(end, newline - end));
    if (!open || newline == text.size()) return text.substr(0, newline);
    end = newline + 1;
  }
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
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

void for_each_csv_row(std::string_view text,
                      const std::function<bool(const Result<std::vector<std::string>>&)>& row) {
  while (!text.empty()) {
    std::string_view taken = text.substr(0, text.find('\n'));
    if (!without_return(taken).empty()) {
      if (has_open_quote(taken)) taken = front_row(text);
      const Result<std::vector<std::string>> fields = parse_csv_row(without_return(taken));
      if (!fields) taken = text.substr(0, text.find('\n'));
      if (!row(fields)) return;
    }
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
  }
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

}  // namespace penstock::wire
