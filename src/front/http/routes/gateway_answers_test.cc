#include "front/http/routes/gateway_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Instant kNow{Seconds{1'700'000'000}};

std::string header(const Response& response, std::string_view name) {
  for (const Header& each : response.headers) {
    if (each.first == name) return each.second;
  }
  return {};
}

Response answer(ErrorKind kind, GatewaySentences sentences = {}) {
  return gateway_error(sentences, {.kind = kind, .what = "because \"x\""}, "r-1", kNow);
}

TEST(GatewayAnswers, each_kind_of_error_has_its_sentence_and_status) {
  const struct {
    ErrorKind kind;
    int status;
    std::string_view sentence;
  } expected[] = {{ErrorKind::invalid, 400, "Missing/Invalid Arguments"},
                  {ErrorKind::not_found, 404, "User Not Found"},
                  {ErrorKind::conflict, 409, "Idempotency Key Conflict"},
                  {ErrorKind::limited, 429, "Rate Limit Exceeded"},
                  {ErrorKind::overloaded, 503, "Service Unavailable"},
                  {ErrorKind::unavailable, 503, "Store Down : Service Unavailable"},
                  {ErrorKind::timeout, 503, "Store Down : Service Unavailable"}};
  for (const auto& [kind, status, sentence] : expected) {
    const Response response = answer(kind);
    EXPECT_EQ(response.status, status);
    EXPECT_THAT(response.body, HasSubstr("\"message\":\"" + std::string(sentence) + "\""));
    EXPECT_THAT(response.body, HasSubstr(R"("detail":"because \"x\""})"));
    EXPECT_EQ(header(response, "Retry-After").empty(), status != 429 && status != 503);
  }
}

TEST(GatewayAnswers, names_the_store_that_is_away) {
  EXPECT_THAT(
      answer(ErrorKind::unavailable, {.store_down = "Postgres Down : Service Unavailable"}).body,
      HasSubstr("\"message\":\"Postgres Down : Service Unavailable\""));
}

TEST(GatewayAnswers, names_the_bus_when_it_is_the_bus) {
  const GatewaySentences postgres{.store_down = "Postgres Down : Service Unavailable"};
  for (const auto result : {store::SendResult::unpublished, store::SendResult::unconfirmed}) {
    const store::Sent sent{.result = result};
    const Response response = gateway_error(postgres.about(sent), *refusal_of(sent), "r-1", kNow);
    EXPECT_EQ(response.status, 503);
    EXPECT_THAT(response.body, HasSubstr("\"message\":\"Kafka Down : Service Unavailable\""));
    wire::JsonWriter out;
    encode_send_entry(out, 5, sent, postgres);
    EXPECT_THAT(out.str(), HasSubstr("\"message\":\"Kafka Down : Service Unavailable\""));
  }
  const Result<store::Sent> away = fail(ErrorKind::unavailable, "away");
  EXPECT_EQ(postgres.about(away).of(ErrorKind::unavailable), postgres.store_down);
}

TEST(GatewayAnswers, a_message_on_the_bus_is_published) {
  service::MessageView view{.id = ItemId::trusted("m-1"), .user = {5}, .on_bus = true};
  view.item.created = kNow;
  const std::string shown = encode_message(view);
  EXPECT_THAT(shown, HasSubstr("\"status\":\"PUBLISHED\",\"attempts\":0"));
  EXPECT_THAT(shown, HasSubstr("\"acceptedAt\":\"2023-11-14T22:13:20.000Z\",\"sentAt\":null"));
}

TEST(GatewayAnswers, what_is_wrong_with_our_own_bytes_is_not_told) {
  const Response response = answer(ErrorKind::corrupt);
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, HasSubstr("Down : Service Unavailable\""));
  EXPECT_THAT(response.body, Not(HasSubstr("because")));
}

TEST(GatewayAnswers, a_limited_message_says_when_to_come_again) {
  const auto error =
      refusal_of({.result = store::SendResult::limited, .retry_after = Micros{1'000'001}});
  ASSERT_TRUE(error);
  EXPECT_EQ(header(gateway_error({}, *error, "r", kNow), "Retry-After"), "2");
  wire::JsonWriter out;
  encode_send_entry(
      out, 5, store::Sent{.result = store::SendResult::limited, .retry_after = Micros{1'000'001}},
      {});
  EXPECT_EQ(out.str(), R"({"userId":5,"status":429,"error":"Too Many Requests",)"
                       R"("message":"Rate Limit Exceeded",)"
                       R"("detail":"the window of this user is used up","retryAfter":2})");
}

TEST(GatewayAnswers, only_what_was_sent_is_no_refusal) {
  EXPECT_FALSE(refusal_of({.result = store::SendResult::sent}));
  EXPECT_FALSE(refusal_of({.result = store::SendResult::repeated}));
  EXPECT_EQ(refusal_of({.result = store::SendResult::different})->kind, ErrorKind::conflict);
  EXPECT_EQ(refusal_of({.result = store::SendResult::pending})->kind, ErrorKind::conflict);
  EXPECT_EQ(refusal_of({.result = store::SendResult::never})->kind, ErrorKind::invalid);
  EXPECT_EQ(refusal_of({.result = store::SendResult::unknown_user})->kind, ErrorKind::not_found);
}

TEST(GatewayAnswers, a_message_shows_how_far_it_is) {
  service::MessageView view{.id = ItemId::trusted("m-1"), .user = {101}, .item = {}};
  view.provider = "smpp";
  view.item.attempts = 2;
  view.item.due = kNow;
  view.item.last_error = "HTTP 500";
  EXPECT_THAT(encode_message(view),
              HasSubstr(R"("sentAt":null,"nextTryAt":"2023-11-14T22:13:20.000Z",)"
                        R"("lastError":"HTTP 500","delivery":null})"));
  view.item.state = core::ItemState::dispatched;
  view.item.dispatched = kNow;
  view.delivery = core::Delivery{.state = core::DeliveryState::delivered,
                                 .at = kNow,
                                 .detail = "DELIVRD",
                                 .parts = 2,
                                 .delivered = 2};
  const std::string shown = encode_message(view);
  EXPECT_THAT(shown, HasSubstr(R"("status":"SENT","attempts":2,"provider":"smpp")"));
  EXPECT_THAT(shown, HasSubstr(R"("nextTryAt":null)"));
  EXPECT_THAT(shown, HasSubstr(R"("delivery":{"state":"DELIVERED","at":"2023-11-14T22:13:20.000Z",)"
                               R"("detail":"DELIVRD","parts":2,"deliveredParts":2}})"));
}

TEST(GatewayAnswers, an_export_is_a_line_for_each_minute) {
  const std::vector<store::UserMinute> minutes = {
      {.user = {1}, .minute = kNow, .counts = {.sent = 2, .limited = 1, .failed = 0}},
      {.user = {2}, .minute = kNow, .counts = {.sent = 0, .limited = 0, .failed = 3}}};
  EXPECT_EQ(
      encode_usage_lines(minutes),
      "{\"at\":\"2023-11-14T22:13:20.000Z\",\"userId\":1,\"sent\":2,\"limited\":1,\"failed\":0}\n"
      "{\"at\":\"2023-11-14T22:13:20.000Z\",\"userId\":2,\"sent\":0,\"limited\":0,\"failed\":3}\n");
  EXPECT_EQ(encode_usage_lines({}), "");
}

}  // namespace
}  // namespace penstock::front
