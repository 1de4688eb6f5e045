#include "tool/import/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "wire/json.h"

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
  PENSTOCK_TRY(join_quoted_lines(row, rest));
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

namespace {

class NdjsonRecords final : public RecordReader {
 public:
  explicit NdjsonRecords(TextInput& input) : input_(input) {}

  Result<bool> next(Record& record) override {
    Line line;
    do {
      const Result<bool> more = input_.next(line);
      if (!more || !*more) return more;
    } while (line.text.find_first_not_of(" \t\r") == line.text.npos);
    record = {.line = line.number, .input = line.text, .json = {}, .problem = {}};
    if (line.too_long) {
      record.problem = "is longer than 64 KiB";
    } else {
      record.json = std::move(line.text);
    }
    return true;
  }

 private:
  TextInput& input_;
};

class CsvRecords final : public RecordReader {
 public:
  CsvRecords(TextInput& input, std::vector<std::string_view> columns, std::string_view object)
      : reader_(input), columns_(std::move(columns)), object_(object) {}

  Result<bool> next(Record& record) override {
    CsvRow row;
    const Result<bool> more = reader_.next(row);
    if (!more || !*more) return more;
    if (row.problem.empty() && row.fields.size() != columns_.size()) {
      row.problem =
          fmt::format("has {} fields where the header has {}", row.fields.size(), columns_.size());
    }
    if (row.problem.empty()) row.problem = object_problem(row.fields);
    record = {.line = row.line,
              .input = std::move(row.text),
              .json = row.problem.empty() ? to_json(row.fields) : std::string(),
              .problem = std::move(row.problem)};
    return true;
  }

 private:
  // An empty field is an absent one.
  std::string to_json(const std::vector<std::string>& fields) const {
    wire::JsonWriter out;
    out.begin_object();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].empty()) continue;
      if (columns_[i] == object_) {
        out.key(columns_[i]).raw(fields[i]);
      } else {
        out.member(columns_[i], fields[i]);
      }
    }
    out.end_object();
    return std::move(out).take();
  }

  // It goes into the line as it is, so it must be one.
  std::string object_problem(const std::vector<std::string>& fields) const {
    const auto column = std::ranges::find(columns_, object_);
    if (object_.empty() || column == columns_.end()) return {};
    const std::string& text = fields[static_cast<std::size_t>(column - columns_.begin())];
    if (text.empty()) return {};
    const Result<wire::JsonDocument> document = wire::parse_json(text);
    const bool object = document && document->root().type() == wire::JsonType::object;
    // A line break would cut the line that is sent; JSON has none outside of its white space.
    if (object && text.find_first_of("\r\n") == text.npos) return {};
    return fmt::format("has a {} that is not a JSON object on one line", object_);
  }

  CsvReader reader_;
  const std::vector<std::string_view> columns_;  // into RecordFields::known
  const std::string_view object_;
};

Result<std::vector<std::string_view>> read_header(TextInput& input, const RecordFields& fields) {
  CsvRow header;
  const bool more = PENSTOCK_TRY(CsvReader(input).next(header));
  if (!more)
    return fail(ErrorKind::invalid, "the file is empty: its first line must name the fields");
  if (!header.problem.empty()) {
    return fail(ErrorKind::invalid,
                fmt::format("line {}: the header {}", header.line, header.problem));
  }
  std::vector<std::string_view> columns;
  for (const std::string& name : header.fields) {
    const auto known = std::ranges::find(fields.known, name);
    if (known == fields.known.end()) {
      return fail(
          ErrorKind::invalid,
          fmt::format("line {}: unknown column \"{}\"; the nearest known one is {} (the first "
                      "line names the fields: {})",
                      header.line, name, nearest_name(name, fields.known),
                      fmt::join(fields.known, ", ")));
    }
    if (std::ranges::find(columns, *known) != columns.end()) {
      return fail(ErrorKind::invalid,
                  fmt::format("line {}: column {} stands twice", header.line, name));
    }
    columns.push_back(*known);
  }
  for (const std::string_view name : fields.required) {
    if (std::ranges::find(columns, name) == columns.end()) {
      return fail(ErrorKind::invalid,
                  fmt::format("line {}: the header lacks the column {}", header.line, name));
    }
  }
  return columns;
}

}  // namespace

const RecordFields& slot_fields() {
  static const RecordFields fields{.known = {"eventId", "configName", "requestedTime", "maxDelay"},
                                   .required = {"eventId", "requestedTime"}};
  return fields;
}

const RecordFields& payment_fields() {
  static const RecordFields fields{
      .known = {"paymentId", "amount", "currency", "debtorIban", "creditorIban", "executionTime",
                "reference", "metadata"},
      .required = {"paymentId", "amount", "currency", "debtorIban", "creditorIban",
                   "executionTime"},
      .object = "metadata"};
  return fields;
}

Result<std::unique_ptr<RecordReader>> read_records(ImportFormat format, TextInput& input,
                                                   const RecordFields& fields) {
  if (format == ImportFormat::ndjson) return std::make_unique<NdjsonRecords>(input);
  std::vector<std::string_view> columns = PENSTOCK_TRY(read_header(input, fields));
  return std::make_unique<CsvRecords>(input, std::move(columns), fields.object);
}

}  // namespace penstock::tool
