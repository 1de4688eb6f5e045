#include "wire/batch.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace penstock::wire {
namespace {

struct Entries {
  std::vector<std::string> seen;  // the exact text of each entry, or what is wrong with it
  Result<void> result;
};

Entries read(std::string_view body, BatchFormat format) {
  Entries entries;
  entries.result = for_each_entry(body, format, [&](const Result<JsonValue>& value) {
    entries.seen.push_back(value ? std::string(value->raw()) : value.error().what);
  });
  return entries;
}

using Seen = std::vector<std::string>;

TEST(BatchArray, gives_each_element_in_order) {
  const Entries entries = read(R"( [1, {"a":[2,3]}, "x", null, []] )", BatchFormat::json_array);
  EXPECT_TRUE(entries.result);
  EXPECT_EQ(entries.seen, (Seen{"1", R"({"a":[2,3]})", "\"x\"", "null", "[]"}));
}

TEST(BatchArray, may_be_empty) {
  const Entries entries = read("[]", BatchFormat::json_array);
  EXPECT_TRUE(entries.result);
  EXPECT_TRUE(entries.seen.empty());
}

TEST(BatchArray, fails_whole_when_the_body_is_no_json) {
  for (const std::string_view body : {"", "[1,", "[1,]", "[1] 2", "{\"a\":1,\"a\":2}"}) {
    const Entries entries = read(body, BatchFormat::json_array);
    ASSERT_FALSE(entries.result) << body;
    EXPECT_EQ(entries.result.error().kind, ErrorKind::invalid);
    EXPECT_TRUE(entries.result.error().what.starts_with("not valid JSON: "));
    EXPECT_TRUE(entries.seen.empty());
  }
}

TEST(BatchArray, fails_whole_when_the_body_is_no_array) {
  const Entries entries = read(R"({"eventId":"x"})", BatchFormat::json_array);
  ASSERT_FALSE(entries.result);
  EXPECT_EQ(entries.result.error().kind, ErrorKind::invalid);
  EXPECT_EQ(entries.result.error().what, "the request must be an array, not an object");
}

TEST(BatchArray, has_at_most_10000_elements) {
  std::string body = "[1";
  for (int i = 1; i < 10'000; ++i) body += ",1";
  EXPECT_EQ(read(body + "]", BatchFormat::json_array).seen.size(), 10'000U);
  const Entries entries = read(body + ",1]", BatchFormat::json_array);
  ASSERT_FALSE(entries.result);
  EXPECT_EQ(entries.result.error().kind, ErrorKind::too_large);
  EXPECT_EQ(entries.result.error().what, "a batch has at most 10000 entries");
  EXPECT_TRUE(entries.seen.empty());
}

TEST(BatchLines, gives_each_line_in_order) {
  const Entries entries = read("{\"a\":1}\n[2, 3]\n\"x\"\n", BatchFormat::ndjson);
  EXPECT_TRUE(entries.result);
  EXPECT_EQ(entries.seen, (Seen{R"({"a":1})", "[2, 3]", "\"x\""}));
}

TEST(BatchLines, needs_no_newline_at_the_end) {
  EXPECT_EQ(read("1\n2", BatchFormat::ndjson).seen, (Seen{"1", "2"}));
  EXPECT_EQ(read("1", BatchFormat::ndjson).seen, (Seen{"1"}));
}

TEST(BatchLines, takes_both_kinds_of_line_end) {
  EXPECT_EQ(read("1\r\n2\r\n3\r\n", BatchFormat::ndjson).seen, (Seen{"1", "2", "3"}));
}

TEST(BatchLines, passes_over_blank_lines) {
  EXPECT_EQ(read("\n\r\n1\n  \t \n\n2\n\n\r\n", BatchFormat::ndjson).seen, (Seen{"1", "2"}));
}

TEST(BatchLines, may_be_empty) {
  for (const std::string_view body : {"", "\n", "\r\n\r\n", "  "}) {
    const Entries entries = read(body, BatchFormat::ndjson);
    EXPECT_TRUE(entries.result);
    EXPECT_TRUE(entries.seen.empty());
  }
}

TEST(BatchLines, lets_a_bad_line_fail_alone) {
  const Entries entries = read("1\n{\"a\":\n2 3\n4\n", BatchFormat::ndjson);
  EXPECT_TRUE(entries.result);
  EXPECT_EQ(entries.seen, (Seen{"1", "not valid JSON: a value is missing at byte 5",
                                "not valid JSON: unexpected text after the value at byte 2", "4"}));
}

TEST(BatchLines, keeps_the_kind_of_a_bad_lines_error) {
  const Result<void> result =
      for_each_entry("nope\n", BatchFormat::ndjson, [](const Result<JsonValue>& value) {
        ASSERT_FALSE(value);
        EXPECT_EQ(value.error().kind, ErrorKind::invalid);
      });
  EXPECT_TRUE(result);
}

TEST(BatchLines, has_at_most_10000_entries) {
  std::string body;
  for (int i = 0; i < 10'000; ++i) body += "1\n\n";  // blank lines do not count
  EXPECT_EQ(read(body, BatchFormat::ndjson).seen.size(), 10'000U);
  EXPECT_TRUE(read(body + "\n", BatchFormat::ndjson).result);
  const Entries entries = read(body + "x", BatchFormat::ndjson);
  ASSERT_FALSE(entries.result);
  EXPECT_EQ(entries.result.error().kind, ErrorKind::too_large);
  EXPECT_EQ(entries.result.error().what, "a batch has at most 10000 entries");
}

TEST(BatchEntries, are_never_more_than_was_said_before) {
  EXPECT_EQ(entries_at_most(""), 0U);
  EXPECT_EQ(entries_at_most("[1]"), 1U);
  EXPECT_EQ(entries_at_most("[1,2,3]"), 3U);
  EXPECT_GE(entries_at_most(R"([{"a":1,"b":2}])"), 1U);
  EXPECT_GE(entries_at_most("1\n2\n3"), 3U);
  EXPECT_EQ(entries_at_most(std::string(1'000'000, ',')), kBatchEntriesMax);
}

}  // namespace
}  // namespace penstock::wire
