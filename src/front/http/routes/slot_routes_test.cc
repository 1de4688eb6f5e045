// Slots and windows: status, body, headers.
#include "front/http/routes/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/http/routes/test_slot_routes.h"

namespace penstock::front {
namespace {

using testing::_;
using testing::Return;

TEST_F(SlotRoutesTest, stand_in_the_table_with_their_access_and_limits) {
  std::vector<std::string> table;
  for (const Route& route : routes_) {
    table.push_back(std::string(to_string(route.method)) + " " + std::string(route.pattern) +
                    (route.access == Access::admin ? " admin" : " api") +
                    (route.body == BodyLimit::batch    ? " batch"
                     : route.body == BodyLimit::single ? " single"
                                                       : ""));
  }
  EXPECT_EQ(table,
            (std::vector<std::string>{
                "POST /api/v1/slots api single", "POST /api/v1/slots/batch api batch",
                "GET /api/v1/slots/{eventId} api", "DELETE /api/v1/slots/{eventId} api",
                "POST /api/v1/slots/{eventId}/confirm api", "POST /api/v1/slots/preview api single",
                "GET /api/v1/windows api", "GET /admin/rate-limit/config admin",
                "GET /admin/rate-limit/configs admin", "POST /admin/rate-limit/config admin single",
                "PATCH /admin/rate-limit/config admin single",
                "GET /admin/rate-limit/config/history admin",
                "POST /admin/rate-limit/cache/flush admin"}));
}

TEST_F(SlotRoutesTest, assign_a_slot) {
  const Response response = post_slot(ask_slot("a"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, kAssignedA);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_TRUE(response.headers.empty());
}

TEST_F(SlotRoutesTest, take_json_by_its_media_type) {
  for (const std::string type : {"", "application/json", "application/json; charset=utf-8",
                                 "Application/JSON", "application/json ;x=y"}) {
    EXPECT_EQ(post_slot(ask_slot("a"), type).status, 200) << type;
    EXPECT_EQ(post_batch("[]", type).status, 200) << type;
  }
  for (const std::string type : {"text/plain", "application/jsonx", "application/x-ndjson",
                                 "application/x-www-form-urlencoded", "json"}) {
    const Response response = post_slot(ask_slot("a"), type);
    EXPECT_EQ(response.status, 415) << type;
    EXPECT_EQ(response.body,
              slot_error_body(415, "Unsupported Media Type", "send application/json"));
  }
  const Response batch = post_batch("[]", "text/csv");
  EXPECT_EQ(batch.status, 415);
  EXPECT_EQ(batch.body, slot_error_body(415, "Unsupported Media Type",
                                        "send application/json or application/x-ndjson"));
}

TEST_F(SlotRoutesTest, refuse_a_malformed_call_naming_the_field) {
  expect_bad(post_slot("{}"), "eventId", "is required");
  expect_bad(post_slot(R"({"eventId":5})"), "eventId", "must be a string, not a number");
  expect_bad(post_slot(R"({"eventId":"a"})"), "requestedTime", "is required");
  expect_bad(post_slot(ask_slot("a", R"(,"maxDelay":"P367D")")), "maxDelay",
             "must be at most P366D");
  expect_bad(post_slot(ask_slot("a", R"(,"configName":"a b")")), "configName",
             "must be printable ASCII without spaces");
}

TEST_F(SlotRoutesTest, refuse_a_body_that_is_no_json_object) {
  const Response broken = post_slot("{\"eventId\":");
  EXPECT_EQ(broken.status, 400);
  EXPECT_EQ(broken.body,
            slot_error_body(400, "Bad Request", "not valid JSON: a value is missing at byte 11"));
  EXPECT_EQ(post_slot("").status, 400);
  EXPECT_EQ(post_slot(R"({"eventId":"a","eventId":"a"})").status, 400);
  EXPECT_EQ(post_slot("[]").body,
            slot_error_body(400, "Bad Request", "the request must be an object, not an array"));
}

TEST_F(SlotRoutesTest, answer_404_for_an_unknown_config) {
  const Response response = post_slot(ask_slot("a", R"(,"configName":"nope")"));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, slot_error_body(404, "Not Found", "no such config"));
}

TEST_F(SlotRoutesTest, answer_503_and_when_to_come_back_without_room_or_store) {
  const Response full = post_slot(ask_slot("full"));
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.body, slot_error_body(503, "Service Unavailable", "no window has room"));
  EXPECT_EQ(full.headers, (std::vector<Header>{{"Retry-After", "1"}}));
  const Response away = post_slot(ask_slot("away"));
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(away.headers, (std::vector<Header>{{"Retry-After", "5"}}));
}

TEST_F(SlotRoutesTest, answer_503_once_the_service_stops) {
  service_.stop();
  const Response response = post_slot(ask_slot("a"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers, (std::vector<Header>{{"Retry-After", "1"}}));
  EXPECT_EQ(get_slot("a").status, 503);
}

TEST_F(SlotRoutesTest, tell_a_slot) {
  const store::SlotRequest request{.event = EventId::trusted("a/b"),
                                   .config_name = ConfigName::trusted("default"),
                                   .requested = kNoon};
  EXPECT_CALL(slots_, find(_)).WillOnce([&](std::span<const EventId> events) {
    EXPECT_EQ(events[0].str(), "a/b");
    return std::vector<std::optional<core::Slot>>{slot_of(request), std::nullopt};
  });
  const Response response = get_slot("a/b");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"eventId":"a/b","scheduledTime":"2025-06-01T12:00:05.371Z","delayMs":5371,)"
            R"("windowStart":"2025-06-01T12:00:04.000Z","configName":"default",)"
            R"("status":"ASSIGNED","requestedTime":"2025-06-01T12:00:00.000Z",)"
            R"("createdAt":"2025-06-01T12:00:00.000Z","configVersion":3})");
}

TEST_F(SlotRoutesTest, tell_why_there_is_no_slot) {
  EXPECT_CALL(slots_, find(_))
      .WillOnce(Return(std::vector<std::optional<core::Slot>>(2)))
      .WillOnce(Return(fail(ErrorKind::unavailable, "the store is away")));
  EXPECT_EQ(get_slot("a").body, slot_error_body(404, "Not Found", "this event has no slot"));
  EXPECT_EQ(get_slot("a").status, 503);
  expect_bad(get_slot("a b"), "eventId", "must be printable ASCII without spaces");
}

TEST_F(SlotRoutesTest, tell_the_used_windows) {
  EXPECT_CALL(slots_, windows(_)).WillOnce(Return(std::vector<core::WindowUse>{{kNoon, 7}}));
  const Response response = get_windows("config=payments");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"config":"payments","pool":"bank","windowSize":"PT4S","windows":[)"
                           R"({"windowStart":"2025-06-01T12:00:00.000Z","used":7,"max":100}]})");
}

TEST_F(SlotRoutesTest, ask_for_the_coming_hour_unless_told) {
  for (const std::string query : {"", "from=&to=&config=", "other=1"}) {
    const store::WindowRange range = range_of(query);
    EXPECT_EQ(range.from, kNoon + Millis{123});
    EXPECT_EQ(range.to, range.from + std::chrono::hours{1});
    EXPECT_EQ(range.limit, 100'001U);
  }
  const store::WindowRange from = range_of("from=2025-06-01T14:00:00+02:00");
  EXPECT_EQ(from.from, kNoon);
  EXPECT_EQ(from.to, kNoon + std::chrono::hours{1});
  const store::WindowRange both = range_of("to=2025-06-02T00%3A00%3A00Z&from=2025-06-02T00:00:00Z");
  EXPECT_EQ(both.from, kNoon + std::chrono::hours{12});
  EXPECT_EQ(both.to, both.from);
}

TEST_F(SlotRoutesTest, refuse_windows_that_make_no_sense) {
  constexpr std::string_view kForm =
      "must be an ISO-8601 instant with offset, like 2025-06-01T12:00:00Z";
  expect_bad(get_windows("from=today"), "from", kForm);
  expect_bad(get_windows("to=2025-06-01"), "to", kForm);
  expect_bad(get_windows("from=2025-06-01T12:00:00Z&to=2025-06-01T11:59:59.999Z"), "to",
             "must not be before from");
  expect_bad(get_windows("config=a%20b"), "config", "must be printable ASCII without spaces");
  expect_bad(get_windows("config=%zz"), "config", "is not well percent-encoded");
  EXPECT_EQ(get_windows("config=nope").status, 404);
}

TEST_F(SlotRoutesTest, preview_a_burst_and_assign_nothing) {
  EXPECT_CALL(slots_, assign(_, _)).Times(0);
  EXPECT_CALL(slots_, windows(_)).WillOnce(Return(std::vector<store::WindowUse>{{kNoon, 90}}));
  const Response response =
      send(Method::post, "/api/v1/slots/preview",
           {.body = R"({"requestedTime":"2025-06-01T12:00:00Z","count":150})"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"firstScheduledTime":"2025-06-01T12:00:00.000Z",)"
            R"("lastScheduledTime":"2025-06-01T12:00:11.999Z","windowsUsed":3,"placed":150})");
}

TEST_F(SlotRoutesTest, refuse_a_preview_of_nothing_or_of_an_unknown_config) {
  const auto preview = [&](std::string body) {
    return send(Method::post, "/api/v1/slots/preview", {.body = std::move(body)});
  };
  for (const char* count : {"0", "-1", "1000000001", "1.5", "\"3\"", "null"}) {
    const Response response =
        preview(R"({"requestedTime":"2025-06-01T12:00:00Z","count":)" + std::string(count) + "}");
    EXPECT_EQ(response.status, 400) << count;
    EXPECT_NE(response.body.find(R"("field":"count")"), std::string::npos) << response.body;
  }
  EXPECT_EQ(preview(R"({"count":3})").status, 400);
  EXPECT_EQ(
      preview(R"({"configName":"nope","requestedTime":"2025-06-01T12:00:00Z","count":3})").status,
      404);
}

}  // namespace
}  // namespace penstock::front
