// The routes of slots, called through the table as the server calls them: status, body, headers.
#include "front/http/slot_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::front {
namespace {

using testing::_;
using testing::NiceMock;
using testing::Return;

constexpr Instant kNoon = from_epoch_millis(1'748'779'200'000);  // 2025-06-01T12:00:00Z

class MockSlots : public store::SlotStore {
 public:
  MOCK_METHOD(std::vector<Result<store::Assignment>>, assign,
              (std::span<const store::SlotRequest>, std::optional<Instant>), (override));
  MOCK_METHOD(Result<std::vector<std::optional<store::Slot>>>, find, (std::span<const EventId>),
              (override));
  MOCK_METHOD(Result<std::vector<store::WindowUse>>, windows, (const store::WindowRange&),
              (override));
  MOCK_METHOD(Result<std::vector<store::Slot>>, scan, (const EventId&, std::size_t), (override));
};

class MockConfigs : public store::SlotConfigStore {
 public:
  MOCK_METHOD(Result<std::optional<core::SlotConfig>>, find, (const ConfigName&), (override));
  MOCK_METHOD(Result<store::SlotConfigChange>, put,
              (const core::SlotConfigDraft&, std::optional<Instant>), (override));
  MOCK_METHOD(Result<std::vector<core::SlotConfig>>, history, (const ConfigName&, std::size_t),
              (override));
  MOCK_METHOD(Result<std::vector<core::SlotConfig>>, list, (const ConfigName&, std::size_t),
              (override));
};

core::SlotConfig config(const ConfigName& name) {
  return {.name = name,
          .pool = PoolName::trusted("bank"),
          .max_per_window = 100,
          .window_size = Seconds{4},
          .version = 3,
          .active = true,
          .effective_from = kNoon};
}

core::Slot slot_of(const store::SlotRequest& request) {
  return {.event = request.event,
          .config_name = request.config_name,
          .config_version = 3,
          .requested = request.requested,
          .window_start = request.requested + Seconds{4},
          .scheduled = request.requested + Millis{5'371},
          .created = kNoon};
}

// Every event gets a slot, but for those that name the trouble they want.
std::vector<Result<store::Assignment>> assign_all(std::span<const store::SlotRequest> requests) {
  std::vector<Result<store::Assignment>> answers;
  for (const store::SlotRequest& request : requests) {
    if (!request.config) {
      answers.push_back(fail(ErrorKind::not_found, "no such config"));
    } else if (request.event.str() == "full") {
      answers.push_back(fail(ErrorKind::exhausted, "no window has room"));
    } else if (request.event.str() == "away") {
      answers.push_back(fail(ErrorKind::unavailable, "the store is away"));
    } else {
      answers.push_back(store::Assignment{.slot = slot_of(request), .fresh = true});
    }
  }
  return answers;
}

struct Call {
  std::string body = {};
  std::string query = {};
  std::string param = {};
  std::string content_type = {};  // empty = no such header
};

class SlotRoutesTest : public testing::Test {
 protected:
  SlotRoutesTest() {
    add_slot_routes(routes_, service_, clock_);
    add_slot_config_routes(routes_, service_, clock_);
    ON_CALL(configs_, find(_)).WillByDefault([](const ConfigName& name) {
      return name.str() == "nope" ? std::optional<core::SlotConfig>() : config(name);
    });
    ON_CALL(slots_, assign(_, _)).WillByDefault([](auto requests, auto) {
      return assign_all(requests);
    });
  }

  Response send(Method method, std::string_view pattern, const Call& call) {
    std::promise<Response> promise;
    auto future = promise.get_future();
    {
      // All that the request shows is gone when the handler returns, as the contract allows.
      const auto text = std::make_unique<Call>(call);
      Request request{
          .method = method, .query = text->query, .body = text->body, .request_id = "req-1"};
      if (!text->param.empty()) request.params.push_back(text->param);
      if (!text->content_type.empty()) {
        request.headers.emplace_back("Content-Type", text->content_type);
      }
      const auto route = std::ranges::find_if(
          routes_, [&](const Route& r) { return r.method == method && r.pattern == pattern; });
      if (route == routes_.end()) return {.status = 0, .body = "no such route"};
      route->handler(request, [promise = std::move(promise)](Response&& response) mutable {
        promise.set_value(std::move(response));
      });
    }
    return future.get();
  }

  Response post_slot(std::string body, std::string content_type = "application/json") {
    return send(Method::post, "/api/v1/slots",
                {.body = std::move(body), .content_type = std::move(content_type)});
  }
  Response post_batch(std::string body, std::string content_type = "application/json") {
    return send(Method::post, "/api/v1/slots/batch",
                {.body = std::move(body), .content_type = std::move(content_type)});
  }
  Response get_slot(std::string event) {
    return send(Method::get, "/api/v1/slots/{eventId}", {.param = std::move(event)});
  }
  Response get_windows(std::string query) {
    return send(Method::get, "/api/v1/windows", {.query = std::move(query)});
  }
  Response get_config(std::string query) {
    return send(Method::get, "/admin/rate-limit/config", {.query = std::move(query)});
  }
  Response post_config(std::string body) {
    return send(Method::post, "/admin/rate-limit/config", {.body = std::move(body)});
  }

  // The range that GET /api/v1/windows asks of the store.
  store::WindowRange range_of(std::string query) {
    store::WindowRange asked;
    EXPECT_CALL(slots_, windows(_)).WillOnce([&asked](const store::WindowRange& range) {
      asked = range;
      return std::vector<core::WindowUse>{};
    });
    EXPECT_EQ(get_windows(std::move(query)).status, 200);
    return asked;
  }

  NiceMock<MockSlots> slots_;
  NiceMock<MockConfigs> configs_;
  SimulatedClock clock_{kNoon + Micros{123'456}};
  Log log_{clock_, -1, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  service::SlotService service_{{}, slots_, configs_, clock_, log_, metrics_, 1};
  std::vector<Route> routes_;
};

std::string error_body(int status, std::string_view error, std::string_view message,
                       std::string_view field = "") {
  std::string body = R"({"status":)" + std::to_string(status) + R"(,"error":")" +
                     std::string(error) + R"(","message":")" + std::string(message) +
                     R"(","timestamp":"2025-06-01T12:00:00.123Z","requestId":"req-1")";
  if (!field.empty()) body += R"(,"field":")" + std::string(field) + '"';
  return body + "}";
}

void expect_bad(const Response& response, std::string_view field, std::string_view problem) {
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body, error_body(400, "Bad Request",
                                      std::string(field) + ": " + std::string(problem), field));
  EXPECT_TRUE(response.headers.empty());
}

constexpr std::string_view kAssignedA =
    R"({"eventId":"a","scheduledTime":"2025-06-01T12:00:05.371Z","delayMs":5371,)"
    R"("windowStart":"2025-06-01T12:00:04.000Z","configName":"default"})";

std::string ask(std::string_view event, std::string_view more = "") {
  return R"({"eventId":")" + std::string(event) + R"(","requestedTime":"2025-06-01T12:00:00Z")" +
         std::string(more) + "}";
}

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
                "GET /admin/rate-limit/config/history admin",
                "POST /admin/rate-limit/cache/flush admin single"}));
}

TEST_F(SlotRoutesTest, assign_a_slot) {
  const Response response = post_slot(ask("a"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, kAssignedA);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_TRUE(response.headers.empty());
}

TEST_F(SlotRoutesTest, take_json_by_its_media_type) {
  for (const std::string type : {"", "application/json", "application/json; charset=utf-8",
                                 "Application/JSON", "application/json ;x=y"}) {
    EXPECT_EQ(post_slot(ask("a"), type).status, 200) << type;
    EXPECT_EQ(post_batch("[]", type).status, 200) << type;
  }
  for (const std::string type : {"text/plain", "application/jsonx", "application/x-ndjson",
                                 "application/x-www-form-urlencoded", "json"}) {
    const Response response = post_slot(ask("a"), type);
    EXPECT_EQ(response.status, 415) << type;
    EXPECT_EQ(response.body, error_body(415, "Unsupported Media Type", "send application/json"));
  }
  const Response batch = post_batch("[]", "text/csv");
  EXPECT_EQ(batch.status, 415);
  EXPECT_EQ(batch.body, error_body(415, "Unsupported Media Type",
                                   "send application/json or application/x-ndjson"));
}

TEST_F(SlotRoutesTest, refuse_a_malformed_call_naming_the_field) {
  expect_bad(post_slot("{}"), "eventId", "is required");
  expect_bad(post_slot(R"({"eventId":5})"), "eventId", "must be a string, not a number");
  expect_bad(post_slot(R"({"eventId":"a"})"), "requestedTime", "is required");
  expect_bad(post_slot(ask("a", R"(,"maxDelay":"P367D")")), "maxDelay", "must be at most P366D");
  expect_bad(post_slot(ask("a", R"(,"configName":"a b")")), "configName",
             "must be printable ASCII without spaces");
}

TEST_F(SlotRoutesTest, refuse_a_body_that_is_no_json_object) {
  const Response broken = post_slot("{\"eventId\":");
  EXPECT_EQ(broken.status, 400);
  EXPECT_EQ(broken.body,
            error_body(400, "Bad Request", "not valid JSON: a value is missing at byte 11"));
  EXPECT_EQ(post_slot("").status, 400);
  EXPECT_EQ(post_slot(R"({"eventId":"a","eventId":"a"})").status, 400);
  EXPECT_EQ(post_slot("[]").body,
            error_body(400, "Bad Request", "the request must be an object, not an array"));
}

TEST_F(SlotRoutesTest, answer_404_for_an_unknown_config) {
  const Response response = post_slot(ask("a", R"(,"configName":"nope")"));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, error_body(404, "Not Found", "no such config"));
}

TEST_F(SlotRoutesTest, answer_503_and_when_to_come_back_without_room_or_store) {
  const Response full = post_slot(ask("full"));
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.body, error_body(503, "Service Unavailable", "no window has room"));
  EXPECT_EQ(full.headers, (std::vector<Header>{{"Retry-After", "1"}}));
  const Response away = post_slot(ask("away"));
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(away.headers, (std::vector<Header>{{"Retry-After", "5"}}));
}

TEST_F(SlotRoutesTest, answer_503_once_the_service_stops) {
  service_.stop();
  const Response response = post_slot(ask("a"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers, (std::vector<Header>{{"Retry-After", "1"}}));
  EXPECT_EQ(get_slot("a").status, 503);
}

TEST_F(SlotRoutesTest, answer_each_entry_of_a_batch_in_its_place) {
  const std::string body = "[" + ask("a") + R"(,{"eventId":"b"},)" + ask("full") +
                           R"(,{"eventId":"two words"},7,{"eventId":7},)" + ask("a") + "]";
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
    const Response response = post_batch(ask("a") + "\r\n\n{\"eventId\"\n" + ask("a"), type);
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
            error_body(400, "Bad Request", "the request must be an array, not an object"));
}

TEST_F(SlotRoutesTest, refuse_a_batch_of_10001) {
  std::string entries;
  for (int i = 1; i < 10'000; ++i) entries += "0,";
  EXPECT_EQ(post_batch("[" + entries + "0]").status, 200);
  const Response response = post_batch("[" + entries + "0,0]");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body,
            error_body(413, "Content Too Large", "a batch has at most 10000 entries"));
  std::string lines;
  for (int i = 0; i <= 10'000; ++i) lines += "0\n";
  EXPECT_EQ(post_batch(lines, "application/x-ndjson").status, 413);
}

TEST_F(SlotRoutesTest, tell_a_slot) {
  const store::SlotRequest request{.event = EventId::trusted("a/b"),
                                   .config_name = ConfigName::trusted("default"),
                                   .requested = kNoon};
  EXPECT_CALL(slots_, find(_)).WillOnce([&](std::span<const EventId> events) {
    EXPECT_EQ(events[0].str(), "a/b");
    return std::vector<std::optional<core::Slot>>{slot_of(request)};
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
      .WillOnce(Return(std::vector<std::optional<core::Slot>>(1)))
      .WillOnce(Return(fail(ErrorKind::unavailable, "the store is away")));
  EXPECT_EQ(get_slot("a").body, error_body(404, "Not Found", "this event has no slot"));
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

constexpr std::string_view kPaymentsConfig =
    R"({"configName":"payments","maxPerWindow":100,"windowSize":"PT4S","pool":"bank",)"
    R"("version":3,"active":true,"effectiveFrom":"2025-06-01T12:00:00.000Z"})";

TEST_F(SlotRoutesTest, tell_a_config) {
  EXPECT_EQ(get_config("name=payments").body, kPaymentsConfig);
  EXPECT_NE(get_config("").body.find(R"("configName":"default")"), std::string::npos);
  const Response missing = get_config("name=nope");
  EXPECT_EQ(missing.body, error_body(404, "Not Found", "there is no slot config named nope"));
  expect_bad(get_config("name=a%20b"), "name", "must be printable ASCII without spaces");
}

TEST_F(SlotRoutesTest, change_a_config) {
  EXPECT_CALL(configs_, put(_, _)).WillOnce([](const core::SlotConfigDraft& draft, auto) {
    EXPECT_EQ(draft.pool.str(), "payments");
    EXPECT_EQ(draft.window_size, Seconds{4});
    return store::SlotConfigChange{config(draft.name), std::nullopt};
  });
  const Response response =
      post_config(R"({"configName":"payments","maxPerWindow":100,"windowSizeSecs":4})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, kPaymentsConfig);
}

TEST_F(SlotRoutesTest, refuse_a_config_that_is_malformed_or_in_conflict) {
  expect_bad(post_config(R"({"configName":"c","maxPerWindow":1.5,"windowSize":"PT4S"})"),
             "maxPerWindow", "must be a whole number within 64 bits");
  expect_bad(post_config(R"({"configName":"c","maxPerWindow":0,"windowSize":"PT4S"})"),
             "maxPerWindow", "must be from 1 to 10000000");
  EXPECT_EQ(post_config("nope").status, 400);
  EXPECT_CALL(configs_, put(_, _)).WillOnce(Return(fail(ErrorKind::conflict, "in use")));
  const Response conflict =
      post_config(R"({"configName":"c","maxPerWindow":1,"windowSize":"PT4S"})");
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.body, error_body(409, "Conflict", "in use"));
}

TEST_F(SlotRoutesTest, tell_the_history_of_a_config) {
  const auto get = [this](std::string query) {
    return send(Method::get, "/admin/rate-limit/config/history", {.query = std::move(query)});
  };
  const core::SlotConfig version = config(ConfigName::trusted("payments"));
  EXPECT_CALL(configs_, history(version.name, _))
      .WillOnce(Return(std::vector<core::SlotConfig>{version, version}))
      .WillOnce(Return(std::vector<core::SlotConfig>{}));
  const std::string one(kPaymentsConfig);
  EXPECT_EQ(get("name=payments").body, "[" + one + "," + one + "]");
  EXPECT_EQ(get("name=payments").status, 404);
  expect_bad(get("name=%"), "name", "is not well percent-encoded");
}

TEST_F(SlotRoutesTest, flush_the_config_cache) {
  EXPECT_CALL(configs_, find(_)).Times(2);
  EXPECT_EQ(get_config("").status, 200);
  EXPECT_EQ(get_config("").status, 200);
  const Response response = send(Method::post, "/admin/rate-limit/cache/flush", {});
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(get_config("").status, 200);
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

TEST_F(SlotRoutesTest, list_the_configs_in_pages) {
  EXPECT_CALL(configs_, list(ConfigName::trusted("a"), 2))
      .WillOnce(
          Return(std::vector{config(ConfigName::trusted("b")), config(ConfigName::trusted("c"))}));
  const Response response =
      send(Method::get, "/admin/rate-limit/configs", {.query = "limit=1&after=a"});
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find(R"([{"configName":"b")"), std::string::npos) << response.body;
  EXPECT_EQ(response.body.find(R"("configName":"c")"), std::string::npos) << response.body;
  ASSERT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.headers[0].second,
            "</admin/rate-limit/configs?limit=1&after=b>; rel=\"next\"");
}

}  // namespace
}  // namespace penstock::front
