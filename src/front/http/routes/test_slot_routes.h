// For tests of the routes of slots: a service on mocks, called through the table as the server
// calls it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/http.h"
#include "front/http/routes/routes.h"
#include "front/http/routes/test_route_call.h"
#include "service/testing/slot_stores.h"

namespace penstock::front {

inline constexpr Instant kNoon = from_epoch_millis(1'748'779'200'000);  // 2025-06-01T12:00:00Z

inline core::SlotConfig slot_config(const ConfigName& name) {
  return {.name = name,
          .pool = PoolName::trusted("bank"),
          .max_per_window = 100,
          .window_size = Seconds{4},
          .version = 3,
          .active = true,
          .effective_from = kNoon};
}

inline core::Slot slot_of(const store::SlotRequest& request) {
  return {.event = request.event,
          .config_name = request.config_name,
          .config_version = 3,
          .requested = request.requested,
          .window_start = request.requested + Seconds{4},
          .scheduled = request.requested + Millis{5'371},
          .created = kNoon};
}

// Every event gets a slot, but for those that name the trouble they want.
inline std::vector<Result<store::Assignment>> assign_all(
    std::span<const store::SlotRequest> requests) {
  std::vector<Result<store::Assignment>> answers;
  for (const store::SlotRequest& request : requests) {
    if (request.config_name.str() == "nope") {
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

struct SlotCallText {
  std::string body = {};
  std::string query = {};
  std::string param = {};
  std::string content_type = {};  // empty = no such header
};

class SlotRoutesTest : public testing::Test {
 protected:
  SlotRoutesTest() {
    add_slot_routes(routes_, service_, clock_);
    ON_CALL(configs_, find(testing::_)).WillByDefault([](const ConfigName& name) {
      return name.str() == "nope" ? std::optional<core::SlotConfig>() : slot_config(name);
    });
    ON_CALL(slots_, assign(testing::_, testing::_)).WillByDefault([](auto requests, auto) {
      return assign_all(requests);
    });
  }

  Response send(Method method, std::string_view pattern, SlotCallText&& call) {
    RouteCall told{.method = method, .query = std::move(call.query), .body = std::move(call.body)};
    if (!call.param.empty()) told.params = {std::move(call.param)};
    if (!call.content_type.empty()) told.headers = {{"Content-Type", std::move(call.content_type)}};
    return answer_of(find_route(routes_, method, pattern), std::move(told));
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
    EXPECT_CALL(slots_, windows(testing::_)).WillOnce([&asked](const store::WindowRange& range) {
      asked = range;
      return std::vector<core::WindowUse>{};
    });
    EXPECT_EQ(get_windows(std::move(query)).status, 200);
    return asked;
  }

  testing::NiceMock<service::MockSlots> slots_;
  testing::NiceMock<service::MockConfigs> configs_;
  SimulatedClock clock_{kNoon + Micros{123'456}};
  Log log_{clock_, -1, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  service::SlotService service_{{}, slots_, configs_, clock_, log_, metrics_, 1};
  std::vector<Route> routes_;
};

inline std::string slot_error_body(int status, std::string_view error, std::string_view message,
                                   std::string_view field = "") {
  std::string body = R"({"status":)" + std::to_string(status) + R"(,"error":")" +
                     std::string(error) + R"(","message":")" + std::string(message) +
                     R"(","timestamp":"2025-06-01T12:00:00.123Z","requestId":"req-1")";
  if (!field.empty()) body += R"(,"field":")" + std::string(field) + '"';
  return body + "}";
}

inline void expect_bad(const Response& response, std::string_view field, std::string_view problem) {
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(
      response.body,
      slot_error_body(400, "Bad Request", std::string(field) + ": " + std::string(problem), field));
  EXPECT_TRUE(response.headers.empty());
}

// What the event `a` gets.
inline constexpr std::string_view kAssignedA =
    R"({"eventId":"a","scheduledTime":"2025-06-01T12:00:05.371Z","delayMs":5371,)"
    R"("windowStart":"2025-06-01T12:00:04.000Z","configName":"default"})";

inline std::string ask_slot(std::string_view event, std::string_view more = "") {
  return R"({"eventId":")" + std::string(event) + R"(","requestedTime":"2025-06-01T12:00:00Z")" +
         std::string(more) + "}";
}

}  // namespace penstock::front
