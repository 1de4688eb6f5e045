#include "front/http/routes/routes.h"

#include <gmock/gmock.h>

#include "front/http/routes/test_throttle.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;

class CheckRoutes : public ThrottleRoutesTest {
 protected:
  CheckRoutes() { add_throttle_routes(routes_, *throttle_, clock_); }

  Response check(std::string body, std::string type = "application/json") {
    return send(Method::post, "/api/v1/throttle/check",
                {.body = std::move(body), .headers = {{"content-type", std::move(type)}}});
  }
  Response batch(std::string body, std::string type = "application/json") {
    return send(Method::post, "/api/v1/throttle/check/batch",
                {.body = std::move(body), .headers = {{"Content-Type", std::move(type)}}});
  }
};

TEST_F(CheckRoutes, answer_200_with_the_decision_and_its_headers) {
  given("user:*", 5);
  const Response response = check(R"({"key":"user:1","cost":2})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"allowed":true,"key":"user:1","limit":5,"remaining":3,"resetAfterMs":3000,)"
            R"("retryAfterMs":0,"policy":"user:*","limits":[{"allowed":true,"key":"user:1",)"
            R"("limit":5,"remaining":3,"resetAfterMs":3000,"retryAfterMs":0,"policy":"user:*"}]})");
  EXPECT_EQ(header(response, "X-RateLimit-Limit"), "5");
  EXPECT_EQ(header(response, "X-RateLimit-Remaining"), "3");
  EXPECT_EQ(header(response, "Retry-After"), "");
  EXPECT_THAT(header(response, "RateLimit"), HasSubstr("\"user:*\";r=3"));
  EXPECT_EQ(header(response, "RateLimit-Policy"), "\"user:*\";q=5;w=1");
}

TEST_F(CheckRoutes, answer_429_with_the_error_body_and_the_decision) {
  given("k", 1);
  ASSERT_EQ(check(R"({"key":"k"})").status, 200);
  const Response response = check(R"({"keys":["a","k"]})");
  EXPECT_EQ(response.status, 429);
  EXPECT_THAT(
      response.body,
      HasSubstr(R"({"status":429,"error":"Too Many Requests","message":"Rate limit exceeded for )"
                R"(key: k","timestamp":"2025-06-01T12:00:00.000Z","requestId":"req-1",)"
                R"("allowed":false,"key":"k","limit":1,"remaining":0,"resetAfterMs":3000,)"
                R"("retryAfterMs":1500,"policy":"k","limits":[{"allowed":true,"key":"a")"));
  EXPECT_EQ(header(response, "Retry-After"), "2");
  EXPECT_EQ(header(response, "X-RateLimit-Remaining"), "0");
}

TEST_F(CheckRoutes, give_no_time_for_a_cost_above_the_capacity) {
  given("k", 1);
  const Response response = check(R"({"key":"k","cost":2})");
  EXPECT_EQ(response.status, 429);
  EXPECT_THAT(response.body, HasSubstr(R"("retryAfterMs":-1)"));
  EXPECT_EQ(header(response, "Retry-After"), "");
}

TEST_F(CheckRoutes, answer_a_peek_with_200) {
  given("k", 1);
  ASSERT_EQ(check(R"({"key":"k"})").status, 200);
  const Response response = check(R"({"key":"k","cost":0})");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("remaining":0)"));
}

TEST_F(CheckRoutes, let_a_shadow_policy_pass) {
  given("k", 1, /*shadow=*/true);
  ASSERT_EQ(check(R"({"key":"k"})").status, 200);
  const Response response = check(R"({"key":"k"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("allowed":true,"key":"k")"));
  EXPECT_THAT(response.body, HasSubstr(R"("shadow":true)"));
}

TEST_F(CheckRoutes, refuse_what_is_no_call) {
  EXPECT_EQ(check("{").status, 400);
  EXPECT_EQ(check("[]").status, 400);
  EXPECT_THAT(check("{}").body, HasSubstr(R"("field":"key")"));
  EXPECT_THAT(check(R"({"key":"a","cost":"1"})").body, HasSubstr(R"("field":"cost")"));
  EXPECT_EQ(check(R"({"key":"a"})", "text/plain").status, 415);
  EXPECT_EQ(check(R"({"key":"a"})", "Application/JSON; charset=utf-8").status, 200);
}

TEST_F(CheckRoutes, answer_503_while_the_usage_cannot_be_asked) {
  limits_.away = true;
  const Response response = check(R"({"key":"a"})");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(header(response, "Retry-After"), "");
}

TEST_F(CheckRoutes, decide_a_batch_entry_by_entry) {
  given("k", 1);
  const Response response =
      batch(R"([{"key":"k"},{"key":"k"},{"key":"","cost":1},7,{"key":"free","cost":3}])");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(
      response.body,
      R"({"results":[{"allowed":true,"key":"k","limit":1,"remaining":0,"resetAfterMs":3000,)"
      R"("retryAfterMs":0,"policy":"k"},{"allowed":false,"key":"k","limit":1,"remaining":0,)"
      R"("resetAfterMs":3000,"retryAfterMs":1500,"policy":"k"},{"key":"","status":400,)"
      R"("error":"Bad Request","message":"key: must not be empty","field":"key"},{"key":"",)"
      R"("status":400,"error":"Bad Request","message":"the request must be an object, not a number"},)"
      R"({"allowed":true,"key":"free","limit":100,"remaining":97,"resetAfterMs":3000,)"
      R"("retryAfterMs":0,"policy":"default"}]})");
}

TEST_F(CheckRoutes, read_a_batch_as_lines_too) {
  const Response response =
      batch("{\"key\":\"\\u0061\"}\n\n{\"key\":\"\\u0062\"}\nnonsense\n", "application/x-ndjson");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("key":"a")"));
  EXPECT_THAT(response.body, HasSubstr(R"("key":"b")"));
  EXPECT_THAT(response.body, HasSubstr("not valid JSON"));
  EXPECT_EQ(batch("[]").body, R"({"results":[]})");
  EXPECT_EQ(batch("{}").status, 400);
  EXPECT_EQ(batch("[]", "text/csv").status, 415);
}

TEST_F(CheckRoutes, refuse_a_batch_of_more_than_ten_thousand) {
  std::string body = "[";
  for (int i = 0; i < 10'001; ++i) body += i == 0 ? R"({"key":"k"})" : R"(,{"key":"k"})";
  EXPECT_EQ(batch(body + "]").status, 413);
}

}  // namespace
}  // namespace penstock::front
