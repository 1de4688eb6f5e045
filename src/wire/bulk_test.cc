#include "wire/bulk.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::wire {
namespace {

TEST(Bulk, writes_two_lines_for_each_minute) {
  std::string out;
  append_bulk_usage(out, "usage",
                    {.user = 101,
                     .minute = Instant{Seconds{1'750'000'020}},
                     .sent = 3,
                     .limited = 1,
                     .failed = 0});
  EXPECT_EQ(out,
            "{\"index\":{\"_index\":\"usage\",\"_id\":\"101-2025-06-15T15:07:00.000Z\"}}\n"
            "{\"@timestamp\":\"2025-06-15T15:07:00.000Z\",\"userId\":101,\"sent\":3,\"limited\":1,"
            "\"failed\":0}\n");
}

TEST(Bulk, reads_what_became_of_each) {
  EXPECT_TRUE(decode_bulk_answer(R"({"took":3,"errors":false,"items":[{"index":{"status":201}}]})")
                  ->rejected.empty());
  const auto mixed = decode_bulk_answer(
      R"({"errors":true,"items":[{"index":{"_id":"1","status":200}},{"index":{"_id":"2","status":400,)"
      R"("error":{"type":"mapper_parsing_exception","reason":"no"}}},{"index":{"_id":"3","status":429}},)"
      R"({"index":{"_id":"4","status":503}},{"index":{"_id":"5","status":403}}]})");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->again, 2U);
  EXPECT_EQ(mixed->rejected,
            (std::vector<std::string>{"2: mapper_parsing_exception: no", "5: status 403"}));
}

TEST(Bulk, refuses_what_is_no_answer) {
  for (const std::string_view body :
       {"", "[]", "{}", R"({"errors":1,"items":[]})", R"({"errors":true})", "<html>"}) {
    EXPECT_FALSE(decode_bulk_answer(body)) << body;
  }
  EXPECT_EQ(decode_bulk_answer(R"({"errors":true,"items":[5,{},{"index":7}]})")->again, 0U);
}

}  // namespace
}  // namespace penstock::wire
