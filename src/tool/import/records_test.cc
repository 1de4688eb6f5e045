#include "tool/import/records.h"

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

using testing::HasSubstr;

std::vector<Record> records_of(ImportFormat format, std::string text,
                               const RecordFields& fields = slot_fields()) {
  TextInput input = input_of(std::move(text));
  const auto reader = read_records(format, input, fields);
  std::vector<Record> records;
  for (Record record; (*reader)->next(record).value();) records.push_back(record);
  return records;
}

std::string header_problem(std::string text) {
  TextInput input = input_of(std::move(text));
  const auto reader = read_records(ImportFormat::csv, input, slot_fields());
  return reader ? "none" : reader.error().what;
}

TEST(CsvRecords, become_json_with_the_names_of_the_header) {
  const std::vector<Record> records = records_of(ImportFormat::csv,
                                                 "requestedTime,eventId,maxDelay,configName\n2025-"
                                                 "06-01T12:00:00Z,e1,,\nx,\"e\"\"2\",PT1S,c\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].json, R"({"requestedTime":"2025-06-01T12:00:00Z","eventId":"e1"})");
  EXPECT_EQ(records[0].line, 2U);
  EXPECT_EQ(records[1].json,
            R"({"requestedTime":"x","eventId":"e\"2","maxDelay":"PT1S","configName":"c"})");
  EXPECT_EQ(records[1].input, "x,\"e\"\"2\",PT1S,c");
}

TEST(CsvRecords, with_another_number_of_fields_are_not_sent) {
  const std::vector<Record> records =
      records_of(ImportFormat::csv, "eventId,requestedTime\ne1\ne2,t,more\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].problem, "has 1 fields where the header has 2");
  EXPECT_EQ(records[0].json, "");
  EXPECT_EQ(records[1].problem, "has 3 fields where the header has 2");
}

TEST(CsvRecords, need_a_header_that_fits) {
  EXPECT_THAT(header_problem(""), HasSubstr("the file is empty"));
  EXPECT_THAT(header_problem("eventid,requestedTime\n"),
              HasSubstr("unknown column \"eventid\"; the nearest known one is eventId"));
  EXPECT_THAT(header_problem("eventId,requestedTime,eventId\n"), HasSubstr("stands twice"));
  EXPECT_THAT(header_problem("eventId,configName\n"), HasSubstr("lacks the column requestedTime"));
  EXPECT_THAT(header_problem("\"eventId\n"), HasSubstr("never closed"));
  EXPECT_EQ(header_problem("eventId,requestedTime\n"), "none");
}

TEST(CsvRecords, of_payments_carry_their_metadata_as_it_is) {
  const std::string header =
      "paymentId,amount,currency,debtorIban,creditorIban,executionTime,reference,metadata\n";
  const std::vector<Record> records = records_of(
      ImportFormat::csv,
      header +
          "p1,1.50,EUR,D,C,T,,\"{\"\"a\"\":[1,2]}\"\np2,1,EUR,D,C,T,r,\np3,1,EUR,D,C,T,r,{\n"
          "p4,1,EUR,D,C,T,r,7\n",
      payment_fields());
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].json,
            R"({"paymentId":"p1","amount":"1.50","currency":"EUR","debtorIban":"D",)"
            R"("creditorIban":"C","executionTime":"T","metadata":{"a":[1,2]}})");
  EXPECT_THAT(records[1].json, HasSubstr(R"("reference":"r"})"));
  EXPECT_EQ(records[2].problem, "has a metadata that is not a JSON object on one line");
  EXPECT_EQ(records[3].problem, "has a metadata that is not a JSON object on one line");
}

TEST(RecordsAfter, pass_over_lines_that_are_done) {
  TextInput input = input_of("{1}\n\n{2}\n{3}\n");
  const auto all = read_records(ImportFormat::ndjson, input, slot_fields());
  RecordsAfter after(**all, 3);
  Record record;
  ASSERT_TRUE(after.next(record).value());
  EXPECT_EQ(record.json, "{3}");
  EXPECT_EQ(record.line, 4U);
  EXPECT_FALSE(after.next(record).value());
}

TEST(NdjsonRecords, are_the_lines_as_they_stand) {
  const std::vector<Record> records =
      records_of(ImportFormat::ndjson, "{\"eventId\":\"a\"}\r\n\n  \t\r\nnot json\n{}");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].json, "{\"eventId\":\"a\"}\r");
  EXPECT_EQ(records[1].json, "not json");
  EXPECT_EQ(records[1].line, 4U);
  EXPECT_EQ(records[2].json, "{}");
}

TEST(NdjsonRecords, that_are_too_long_are_not_sent) {
  const std::vector<Record> records =
      records_of(ImportFormat::ndjson, std::string(70'000, 'x') + "\n{}\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].problem, "is longer than 64 KiB");
  EXPECT_EQ(records[1].json, "{}");
}

}  // namespace

}  // namespace penstock::tool
