#include "tool/import/batch_answer.h"

#include <gtest/gtest.h>

namespace penstock::tool {
namespace {

http::HttpAnswer answer(int status, std::string body, std::optional<Millis> retry_after = {}) {
  return {.status = status, .body = std::move(body), .retry_after = retry_after};
}

TEST(JudgeAnswer, reads_results_line_by_line) {
  const BatchVerdict verdict = judge_answer(
      answer(200, R"({"results":[{"eventId":"a","scheduledTime":"T","delayMs":1},)"
                  R"({"eventId":"b","status":404,"error":"Not Found","message":"no config"},)"
                  R"({"eventId":"c","status":503,"error":"E","message":"m","retryAfterMs":10},)"
                  R"({"eventId":"d","status":503,"error":"E","message":"full"}]})"),
      4, read_slot_line);
  const auto& lines = std::get<Answered>(verdict);
  EXPECT_EQ(lines[0].fate, LineFate::accepted);
  EXPECT_EQ(lines[0].scheduled_time, "T");
  EXPECT_EQ(lines[0].json, R"({"eventId":"a","scheduledTime":"T","delayMs":1})");
  EXPECT_FALSE(lines[1].taken());
  EXPECT_EQ(lines[1].reason, "404 Not Found: no config");
  EXPECT_FALSE(lines[1].again);
  EXPECT_TRUE(lines[2].again);
  EXPECT_FALSE(lines[3].again);
}

TEST(JudgeAnswer, tells_what_became_of_a_payment) {
  const BatchVerdict verdict = judge_answer(
      answer(
          200,
          R"({"results":[{"paymentId":"a","status":202,"state":"SCHEDULED","scheduledTime":"T"},)"
          R"({"paymentId":"b","status":200,"state":"ACCEPTED","scheduledTime":"T"},)"
          R"({"paymentId":"c","status":202,"state":"HELD"},)"
          R"({"paymentId":"d","status":422,"error":"E","message":"too much"},)"
          R"({"paymentId":"e","status":400,"error":"Bad Request","message":"amount: m"},)"
          R"({"paymentId":"f","status":409,"error":"E","message":"m"},)"
          R"({"paymentId":"g","status":503,"error":"E","message":"m"},)"
          R"({"paymentId":"h","status":500,"error":"E","message":"m"},7]})"),
      9, read_payment_line);
  const auto& lines = std::get<Answered>(verdict);
  using enum LineFate;
  const std::vector<LineFate> expected{accepted, known,  held,   rejected, rejected,
                                       rejected, failed, failed, failed};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(lines[i].fate, expected[i]) << i;
  EXPECT_EQ(lines[4].reason, "400 Bad Request: amount: m");
  EXPECT_EQ(lines[4].id, "e");
  EXPECT_TRUE(lines[6].again);
  EXPECT_FALSE(lines[7].again);
}

TEST(JudgeAnswer, gives_up_on_an_answer_of_somebody_else) {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"results":{}})", R"({"results":[]})"}) {
    EXPECT_TRUE(std::holds_alternative<GiveUp>(judge_answer(answer(200, body), 1, read_slot_line)))
        << body;
  }
}

TEST(JudgeAnswer, gives_up_where_no_line_would_be_taken) {
  for (const int status : {301, 401, 403, 404, 405, 415}) {
    EXPECT_TRUE(
        std::holds_alternative<GiveUp>(judge_answer(answer(status, ""), 10, read_slot_line)))
        << status;
  }
}

TEST(JudgeAnswer, sends_again_after_passing_failures) {
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    EXPECT_TRUE(
        std::holds_alternative<SendAgain>(judge_answer(answer(status, ""), 10, read_slot_line)))
        << status;
  }
  EXPECT_EQ(std::get<SendAgain>(judge_answer(answer(503, "", Seconds{3}), 1, read_slot_line)).after,
            Seconds{3});
}

TEST(JudgeAnswer, halves_a_batch_that_is_too_large_down_to_the_line_at_fault) {
  EXPECT_TRUE(std::holds_alternative<SendHalves>(judge_answer(answer(413, ""), 2, read_slot_line)));
  const BatchVerdict alone =
      judge_answer(answer(413, R"({"message":"too large"})"), 1, read_slot_line);
  EXPECT_EQ(std::get<Answered>(alone).at(0).reason, "413: too large");
}

}  // namespace
}  // namespace penstock::tool
