// CSV by RFC 4180: commas, double quotes, doubled quotes and line breaks inside quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/import/text_input.h"
#include "base/result.h"

namespace penstock::app {

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

// One row, line breaks only inside quotes; the error's `what` is a predicate.
Result<std::vector<std::string>> parse_csv_row(std::string_view text);

// Appends `field`, in quotes where it needs them.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace penstock::app
