// CSV read line by line from a file of any size; wire/batch.h has the form of one row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tool/import/text_input.h"
#include "wire/batch.h"

namespace penstock::tool {

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

}  // namespace penstock::tool
