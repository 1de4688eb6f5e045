// Batches of slots: an answer for each entry, in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "front/http/routes/test_slot_routes.h"

namespace penstock::front {
namespace {

using testing::_;

TEST_F(SlotRoutesTest, answer_each_entry_of_a_batch_in_its_place) {
  const std::string body = "[" + ask_slot("a") + R"(,{"eventId":"b"},)" + ask_slot("full") +
                           R"(,{"eventId":"two words"},7,{"eventId":7},)" + ask_slot("a") + "]";
  const Response response = post_batch(body);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"results":[)" + std::string(kAssignedA) +
                R"(,{"eventId":"b","status":400,"error":"Bad Request",)"
                R"("message":"requestedTime: is required","field":"requestedTime"},)"
                R"({"eventId":"full","status":503,"error":"Service Unavailable",)"
                R"("message":"no window has room"},)"
                R"({"eventId":"two words","status":400,"error":"Bad Request",)"
                R"("message":"eventId: must be printable ASCII without spaces","field":"eventId"},)"
                R"({"eventId":"","status":400,"error":"Bad Request",)"
                R"("message":"the request must be an object, not a number"},)"
                R"({"eventId":"","status":400,"error":"Bad Request",)"
                R"("message":"eventId: must be a string, not a number","field":"eventId"},)" +
                std::string(kAssignedA) + "]}");
}

TEST_F(SlotRoutesTest, answer_each_line_of_an_ndjson_batch) {
  for (const std::string type :
       {"application/x-ndjson", "application/ndjson", "application/x-ndjson; charset=utf-8"}) {
    const Response response =
        post_batch(ask_slot("a") + "\r\n\n{\"eventId\"\n" + ask_slot("a"), type);
    EXPECT_EQ(response.status, 200) << type;
    EXPECT_EQ(response.body, R"({"results":[)" + std::string(kAssignedA) +
                                 R"(,{"eventId":"","status":400,"error":"Bad Request",)"
                                 R"("message":"not valid JSON: expected : at byte 10"},)" +
                                 std::string(kAssignedA) + "]}");
  }
}

TEST_F(SlotRoutesTest, answer_a_batch_that_asks_nothing_of_the_store) {
  EXPECT_CALL(slots_, assign(_, _)).Times(0);
  EXPECT_EQ(post_batch("[]").body, R"({"results":[]})");
  EXPECT_EQ(post_batch("\n", "application/x-ndjson").body, R"({"results":[]})");
  EXPECT_EQ(post_batch("[{}]").status, 200);
}

TEST_F(SlotRoutesTest, refuse_a_body_that_is_no_batch) {
  EXPECT_EQ(post_batch("").status, 400);
  EXPECT_EQ(post_batch("[{},").status, 400);
  const Response object = post_batch("{}");
  EXPECT_EQ(object.status, 400);
  EXPECT_EQ(object.body,
            slot_error_body(400, "Bad Request", "the request must be an array, not an object"));
}

TEST_F(SlotRoutesTest, refuse_a_batch_of_10001) {
  std::string entries;
  for (int i = 1; i < 10'000; ++i) entries += "0,";
  EXPECT_EQ(post_batch("[" + entries + "0]").status, 200);
  const Response response = post_batch("[" + entries + "0,0]");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body,
            slot_error_body(413, "Content Too Large", "a batch has at most 10000 entries"));
  std::string lines;
  for (int i = 0; i <= 10'000; ++i) lines += "0\n";
  EXPECT_EQ(post_batch(lines, "application/x-ndjson").status, 413);
}

}  // namespace
}  // namespace penstock::front
