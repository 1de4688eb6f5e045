// The events or payments of a file, one by one, as the JSON that the batch route takes. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tool/import/text_input.h"
#include "wire/batch.h"

namespace penstock::tool {

// CSV read line by line from a file of any size; wire/csv.h has the form of one row.
struct CsvRow {
  std::vector<std::string> fields;
  std::uint64_t line = 0;  // of its first line
  std::string text;        // as it stands in the file
  std::string problem;     // why `fields` is empty; a bad row never hides the rows after it
};

class CsvReader {
 public:
  // `input` must outlive the reader.
  explicit CsvReader(TextInput& input) : input_(input) {}

  // False at the end. Blank lines are passed over.
  Result<bool> next(CsvRow& row);

 private:
  Result<bool> join_quoted_lines(CsvRow& row, std::vector<Line>& rest);

  TextInput& input_;
};

using wire::append_csv_field;
using wire::parse_csv_row;

enum class ImportFormat { csv, ndjson };

struct Record {
  std::uint64_t line = 0;  // in the file, from 1
  std::string input;       // as it stands there
  std::string json;        // one line
  std::string problem;     // not empty: it cannot be sent, and why
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  virtual Result<bool> next(Record& record) = 0;  // false at the end
};

// The columns that a CSV file may have, as the API names them.
struct RecordFields {
  std::vector<std::string_view> known;
  std::vector<std::string_view> required;
  std::string_view object = {};  // the one whose text is a JSON object, if any
};
const RecordFields& slot_fields();
const RecordFields& payment_fields();

// `input` and `fields` must outlive the reader. CSV: the first row names the fields, in any order;
// a header that does not fit is `invalid`.
Result<std::unique_ptr<RecordReader>> read_records(ImportFormat format, TextInput& input,
                                                   const RecordFields& fields);

// Passes over what stands in the lines up to `line`; `records` must outlive it.
class RecordsAfter final : public RecordReader {
 public:
  RecordsAfter(RecordReader& records, std::uint64_t line) : records_(records), line_(line) {}

  Result<bool> next(Record& record) override {
    for (;;) {
      Result<bool> more = records_.next(record);
      if (!more || !*more || record.line > line_) return more;
    }
  }

 private:
  RecordReader& records_;
  const std::uint64_t line_;
};

}  // namespace penstock::tool
