#include "wire/batch.h"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::wire {
namespace {

using Entry = std::function<void(const Result<JsonValue>&)>;

std::unexpected<Error> too_long() {
  return fail(ErrorKind::too_large,
              "a batch has at most " + std::to_string(kBatchEntriesMax) + " entries");
}

Result<void> for_each_element(std::string_view body, const Entry& entry) {
  const JsonDocument document = PENSTOCK_TRY(parse_json(body));
  const JsonValue root = document.root();
  if (root.type() != JsonType::array) {
    return fail(ErrorKind::invalid,
                "the request must be an array, not " + std::string(to_string(root.type())));
  }
  if (root.size() > kBatchEntriesMax) return too_long();
  for (JsonValue element = root.first(); element; element = element.next()) entry(element);
  return {};
}

bool is_blank(std::string_view line) noexcept {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

Result<void> for_each_line(std::string_view body, const Entry& entry) {
  std::size_t entries = 0;
  while (!body.empty()) {
    const std::size_t newline = body.find('\n');
    const std::string_view line = body.substr(0, newline);
    body.remove_prefix(newline == std::string_view::npos ? body.size() : newline + 1);
    if (is_blank(line)) continue;
    if (++entries > kBatchEntriesMax) return too_long();
    const Result<JsonDocument> document = parse_json(line);
    if (document) {
      entry(document->root());
    } else {
      entry(std::unexpected(document.error()));
    }
  }
  return {};
}

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

std::size_t entries_at_most(std::string_view body) noexcept {
  if (body.empty()) return 0;
  const auto separators = std::ranges::count_if(body, [](char c) { return c == ',' || c == '\n'; });
  return std::min(static_cast<std::size_t>(separators) + 1, kBatchEntriesMax);
}

Result<void> for_each_entry(std::string_view body, BatchFormat format, const Entry& entry) {
  return format == BatchFormat::ndjson ? for_each_line(body, entry) : for_each_element(body, entry);
}

Result<std::vector<std::string>> parse_csv_row(std::string_view text) {
  std::vector<std::string> fields;
  for (;;) {
    std::string field = PENSTOCK_TRY(take_field(text));
    fields.push_back(std::move(field));
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
