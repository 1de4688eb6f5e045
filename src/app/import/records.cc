#include "app/import/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "app/config/nearest.h"
#include "app/import/csv.h"
#include "wire/json.h"

namespace penstock::app {
namespace {

constexpr std::array<std::string_view, 4> kFields{"eventId", "configName", "requestedTime",
                                                  "maxDelay"};
constexpr std::array<std::string_view, 2> kRequired{"eventId", "requestedTime"};

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
  CsvRecords(TextInput& input, std::vector<std::string_view> columns)
      : reader_(input), columns_(std::move(columns)) {}

  Result<bool> next(Record& record) override {
    CsvRow row;
    const Result<bool> more = reader_.next(row);
    if (!more || !*more) return more;
    if (row.problem.empty() && row.fields.size() != columns_.size()) {
      row.problem =
          fmt::format("has {} fields where the header has {}", row.fields.size(), columns_.size());
    }
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
      if (!fields[i].empty()) out.member(columns_[i], fields[i]);
    }
    out.end_object();
    return std::move(out).take();
  }

  CsvReader reader_;
  const std::vector<std::string_view> columns_;  // into kFields
};

Result<std::vector<std::string_view>> read_header(TextInput& input) {
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
    const auto known = std::ranges::find(kFields, name);
    if (known == kFields.end()) {
      return fail(
          ErrorKind::invalid,
          fmt::format("line {}: unknown column \"{}\"; the nearest known one is {} (the first "
                      "line names the fields: eventId, configName, requestedTime, maxDelay)",
                      header.line, name, nearest_name(name, kFields)));
    }
    if (std::ranges::find(columns, *known) != columns.end()) {
      return fail(ErrorKind::invalid,
                  fmt::format("line {}: column {} stands twice", header.line, name));
    }
    columns.push_back(*known);
  }
  for (const std::string_view name : kRequired) {
    if (std::ranges::find(columns, name) == columns.end()) {
      return fail(ErrorKind::invalid,
                  fmt::format("line {}: the header lacks the column {}", header.line, name));
    }
  }
  return columns;
}

}  // namespace

Result<std::unique_ptr<RecordReader>> read_records(ImportFormat format, TextInput& input) {
  if (format == ImportFormat::ndjson) return std::make_unique<NdjsonRecords>(input);
  Result<std::vector<std::string_view>> columns = read_header(input);
  if (!columns) return std::unexpected(std::move(columns.error()));
  return std::make_unique<CsvRecords>(input, *std::move(columns));
}

}  // namespace penstock::app
