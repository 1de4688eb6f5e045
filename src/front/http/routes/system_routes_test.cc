#include "front/http/routes/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json.h"

namespace penstock::front {
namespace {

class SystemRoutesTest : public testing::Test {
 protected:
  // Answered before the handler returns, or not at all.
  Response get(std::string_view pattern, std::vector<ReadyCheck> checks = {}) {
    std::vector<Route> routes;
    add_health_routes(routes, std::move(checks), metrics_);
    const auto route = std::ranges::find(routes, pattern, &Route::pattern);
    Response answer{.status = 0};
    if (route == routes.end()) return answer;
    route->handler(Request{}, [&answer](Response&& response) { answer = std::move(response); });
    return answer;
  }

  runtime::Metrics metrics_;
};

ReadyCheck up(std::string name) {
  return {std::move(name), [] { return Result<void>(); }};
}

ReadyCheck down(std::string name, std::string why) {
  return {std::move(name),
          [why = std::move(why)]() -> Result<void> { return fail(ErrorKind::unavailable, why); }};
}

TEST_F(SystemRoutesTest, are_open_and_read_only) {
  std::vector<Route> routes;
  add_health_routes(routes, {}, metrics_);
  std::vector<std::string_view> patterns;
  for (const Route& route : routes) {
    patterns.push_back(route.pattern);
    EXPECT_EQ(route.method, Method::get);
    EXPECT_EQ(route.access, Access::open);
    EXPECT_EQ(route.body, BodyLimit::none);
  }
  EXPECT_EQ(patterns, (std::vector<std::string_view>{"/health/live", "/health/ready", "/metrics",
                                                     "/q/metrics"}));
}

TEST_F(SystemRoutesTest, say_that_the_process_lives_whatever_the_checks_say) {
  const Response response = get("/health/live", {down("store", "away")});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"status":"UP"})");
  EXPECT_EQ(response.content_type, "application/json");
}

TEST_F(SystemRoutesTest, are_ready_when_every_check_is_up) {
  const Response response = get("/health/ready", {up("store"), up("sink")});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"status":"UP","checks":[{"name":"store","status":"UP"},)"
                           R"({"name":"sink","status":"UP"}]})");
  EXPECT_TRUE(response.headers.empty());
  EXPECT_EQ(get("/health/ready").body, R"({"status":"UP","checks":[]})");
}

TEST_F(SystemRoutesTest, are_not_ready_when_one_check_is_down) {
  const Response response =
      get("/health/ready", {up("a"), down("b", "no \"disk\""), up("c"), down("d", "slow")});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body,
            R"({"status":"DOWN","checks":[{"name":"a","status":"UP"},)"
            R"({"name":"b","status":"DOWN","message":"no \"disk\""},{"name":"c","status":"UP"},)"
            R"({"name":"d","status":"DOWN","message":"slow"}]})");
  EXPECT_EQ(response.headers, (std::vector<Header>{{"Retry-After", "1"}}));
}

TEST_F(SystemRoutesTest, are_ready_but_say_so_when_a_part_works_not_as_it_should) {
  ReadyCheck warned = up("policies");
  warned.warning = [] { return std::string("some were lost"); };
  const Response response = get("/health/ready", {up("store"), warned});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"status":"DEGRADED","checks":[{"name":"store","status":"UP"},)"
            R"({"name":"policies","status":"DEGRADED","message":"some were lost"}]})");
  EXPECT_TRUE(response.headers.empty());
  EXPECT_EQ(get("/health/ready", {warned, down("sink", "away")}).status, 503);
  warned.warning = [] { return std::string(); };
  EXPECT_EQ(get("/health/ready", {warned}).body,
            R"({"status":"UP","checks":[{"name":"policies","status":"UP"}]})");
}

TEST_F(SystemRoutesTest, ask_the_checks_each_time) {
  bool fine = false;
  const std::vector<ReadyCheck> checks = {{"x", [&fine]() -> Result<void> {
                                             if (fine) return {};
                                             return fail(ErrorKind::unavailable, "not yet");
                                           }}};
  EXPECT_EQ(get("/health/ready", checks).status, 503);
  fine = true;
  EXPECT_EQ(get("/health/ready", checks).status, 200);
}

TEST_F(SystemRoutesTest, tell_the_metrics_under_both_names) {
  metrics_.counter("a_total", "A").add(3);
  for (const std::string_view pattern : {"/metrics", "/q/metrics"}) {
    const Response response = get(pattern);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_EQ(response.body, "# HELP a_total A\n# TYPE a_total counter\na_total 3\n");
  }
}

TEST(RouteTable, is_listed_as_it_is_declared) {
  std::vector<Route> routes;
  add_table_route(routes);
  EXPECT_EQ(routes.back().access, Access::admin);
  Response answer;
  routes.back().handler({}, [&](Response&& response) { answer = std::move(response); });
  const Result<wire::JsonDocument> document = wire::parse_json(answer.body);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().size(), wire::kRoutes.size());
  for (
      const std::string_view row :
      {R"({"method":"DELETE","path":"/api/v1/slots/{eventId}","access":"api","scope":"slots:write",)"
       R"("body":"none","operationId":"releaseSlot","summary":"Give a slot back"})",
       R"({"method":"GET","path":"/admin/routes","access":"admin","body":"none",)"
       R"("operationId":"listRoutes","summary":"The route table"})"}) {
    EXPECT_NE(answer.body.find(row), answer.body.npos) << row;
  }
}

// Every row with a handler that does nothing.
std::vector<Route> whole_table() {
  std::vector<Route> routes;
  for (const wire::RouteInfo& row : wire::kRoutes) {
    routes.emplace_back(row, [](const Request&, Reply&&) {});
  }
  return routes;
}

TEST(RouteTable, is_whole_when_each_row_has_one_handler) {
  EXPECT_TRUE(check_routes(whole_table()));
}

TEST(RouteTable, names_the_row_that_nobody_answers) {
  std::vector<Route> routes = whole_table();
  std::erase_if(routes, [](const Route& route) { return route.id == "confirmSlot"; });
  const Result<void> checked = check_routes(routes);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().what, "the route confirmSlot has no handler");
}

TEST(RouteTable, refuses_two_handlers_for_a_row_and_one_for_none) {
  std::vector<Route> routes = whole_table();
  routes.push_back(routes.front());
  EXPECT_EQ(check_routes(routes).error().what, "the route assignSlot has two handlers");
  routes.back() = {Method::get, "/made/up", Access::api, BodyLimit::none, {}};
  EXPECT_EQ(check_routes(routes).error().what,
            "the handler of /made/up has no row in the route table");
}

}  // namespace
}  // namespace penstock::front
