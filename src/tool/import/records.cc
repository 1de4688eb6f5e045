#include "tool/import/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "tool/import/csv.h"
#include "wire/json.h"

namespace penstock::tool {
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
  const Result<bool> more = CsvReader(input).next(header);
  if (!more) return std::unexpected(more.error());
  if (!*more)
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
  Result<std::vector<std::string_view>> columns = read_header(input, fields);
  if (!columns) return std::unexpected(std::move(columns.error()));
  return std::make_unique<CsvRecords>(input, *std::move(columns), fields.object);
}

}  // namespace penstock::tool
