#include "app/import/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/import/string_source.h"

namespace penstock::app {
namespace {

using testing::HasSubstr;

std::vector<Record> records_of(ImportFormat format, std::string text) {
  TextInput input = input_of(std::move(text));
  const auto reader = read_records(format, input);
  std::vector<Record> records;
  for (Record record; (*reader)->next(record).value();) records.push_back(record);
  return records;
}

std::string header_problem(std::string text) {
  TextInput input = input_of(std::move(text));
  const auto reader = read_records(ImportFormat::csv, input);
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
}  // namespace penstock::app
