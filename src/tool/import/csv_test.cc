#include "tool/import/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/import/string_source.h"

namespace penstock::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Fields = std::vector<std::string>;

std::vector<CsvRow> rows_of(std::string text) {
  TextInput input = input_of(std::move(text));
  CsvReader reader(input);
  std::vector<CsvRow> rows;
  for (CsvRow row; reader.next(row).value();) rows.push_back(row);
  return rows;
}

std::vector<Fields> fields_of(std::string text) {
  std::vector<Fields> all;
  for (const CsvRow& row : rows_of(std::move(text))) all.push_back(row.fields);
  return all;
}

TEST(Csv, splits_at_commas_and_line_ends) {
  EXPECT_THAT(fields_of("a,b\nc,d"), ElementsAre(Fields{"a", "b"}, Fields{"c", "d"}));
  EXPECT_THAT(fields_of("a,b\r\nc,d\r\n"), ElementsAre(Fields{"a", "b"}, Fields{"c", "d"}));
  EXPECT_THAT(fields_of(",\n\n,,\n"), ElementsAre(Fields{"", ""}, Fields{"", "", ""}));
}

TEST(Csv, takes_quoted_fields_with_anything_in_them) {
  EXPECT_THAT(fields_of("\"a,b\",\"say \"\"hi\"\"\",\"\"\n"),
              ElementsAre(Fields{"a,b", "say \"hi\"", ""}));
  EXPECT_THAT(fields_of("\"two\nlines\",x\ny,z\n"),
              ElementsAre(Fields{"two\nlines", "x"}, Fields{"y", "z"}));
  EXPECT_THAT(fields_of("\"two\r\nlines\",x\r\ny,z\r\n"),
              ElementsAre(Fields{"two\r\nlines", "x"}, Fields{"y", "z"}));
}

TEST(Csv, cuts_the_byte_order_mark) {
  EXPECT_THAT(fields_of("\xef\xbb\xbf"
                        "a,b\n"),
              ElementsAre(Fields{"a", "b"}));
}

TEST(Csv, counts_lines_as_an_editor_does) {
  const std::vector<CsvRow> rows = rows_of("h\n\n\"x\ny\"\nz\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].line, 1U);
  EXPECT_EQ(rows[1].line, 3U);
  EXPECT_EQ(rows[2].line, 5U);
}

TEST(Csv, blames_only_the_line_with_the_stray_quote) {
  for (const char* bad : {"a\"b,x", "\"ab\"c,x", "\"never closed,x"}) {
    const std::vector<CsvRow> rows = rows_of(std::string(bad) + "\r\n1,2\r\n3,4\r\n");
    ASSERT_EQ(rows.size(), 3U) << bad;
    EXPECT_FALSE(rows[0].problem.empty());
    EXPECT_EQ(rows[0].text, bad);
    EXPECT_EQ(rows[1].fields, (Fields{"1", "2"}));
    EXPECT_EQ(rows[1].line, 2U);
    EXPECT_EQ(rows[2].fields, (Fields{"3", "4"}));
  }
}

TEST(Csv, bounds_a_row_whose_quote_stays_open) {
  std::string text = "\"open\n";
  for (int i = 0; i < 20'000; ++i) text += "1,2\n";
  const std::vector<CsvRow> rows = rows_of(text);
  ASSERT_EQ(rows.size(), 20'001U);
  EXPECT_THAT(rows[0].problem, HasSubstr("never closed"));
  EXPECT_EQ(rows[20'000].fields, (Fields{"1", "2"}));
  EXPECT_EQ(rows[20'000].line, 20'001U);
}

TEST(Csv, blames_a_line_that_is_too_long_and_goes_on) {
  const std::vector<CsvRow> rows = rows_of(std::string(100'000, 'x') + "\n1,2\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].problem, "is longer than 64 KiB");
  EXPECT_EQ(rows[1].fields, (Fields{"1", "2"}));
}

TEST(AppendCsvField, quotes_what_needs_it_and_reads_back) {
  for (const char* field : {"", "plain", "a,b", "say \"hi\"", "two\nlines", "\"", " "}) {
    std::string out;
    append_csv_field(out, field);
    EXPECT_EQ(parse_csv_row(out), (Fields{field})) << out;
  }
  std::string out;
  append_csv_field(out, "plain");
  EXPECT_EQ(out, "plain");
}

}  // namespace
}  // namespace penstock::tool
