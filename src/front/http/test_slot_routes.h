// For tests of the routes of slots: a service on mocks, called through the table as the server
// calls it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/http.h"
#include "front/http/slot_routes.h"

namespace penstock::front {

inline constexpr Instant kNoon = from_epoch_millis(1'748'779'200'000);  // 2025-06-01T12:00:00Z

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
    add_slot_config_routes(routes_, service_, clock_);
    ON_CALL(configs_, find(testing::_)).WillByDefault([](const ConfigName& name) {
      return name.str() == "nope" ? std::optional<core::SlotConfig>() : slot_config(name);
    });
    ON_CALL(slots_, assign(testing::_, testing::_)).WillByDefault([](auto requests, auto) {
      return assign_all(requests);
    });
  }

  Response send(Method method, std::string_view pattern, const SlotCallText& call) {
    std::promise<Response> promise;
    auto future = promise.get_future();
    {
      // All that the request shows is gone when the handler returns, as the contract allows.
      const auto text = std::make_unique<SlotCallText>(call);
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
    EXPECT_CALL(slots_, windows(testing::_)).WillOnce([&asked](const store::WindowRange& range) {
      asked = range;
      return std::vector<core::WindowUse>{};
    });
    EXPECT_EQ(get_windows(std::move(query)).status, 200);
    return asked;
  }

  testing::NiceMock<MockSlots> slots_;
  testing::NiceMock<MockConfigs> configs_;
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
