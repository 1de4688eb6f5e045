#include "front/http/system_routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::front {
namespace {

class SystemRoutesTest : public testing::Test {
 protected:
  // Answered before the handler returns, or not at all.
  Response get(std::string_view pattern, std::vector<ReadyCheck> checks = {}) {
    std::vector<Route> routes;
    add_system_routes(routes, std::move(checks), metrics_);
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
  add_system_routes(routes, {}, metrics_);
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

TEST(RouteTable, lists_all_routes_and_itself) {
  std::vector<Route> routes;
  routes.push_back({Method::del, "/x/{id}", Access::api, BodyLimit::batch, {}});
  add_route_table(routes);
  EXPECT_EQ(routes.back().access, Access::admin);
  Response answer;
  routes.back().handler({}, [&](Response&& response) { answer = std::move(response); });
  EXPECT_EQ(answer.body,
            R"([{"method":"DELETE","path":"/x/{id}","access":"api","body":"batch"},)"
            R"({"method":"GET","path":"/admin/routes","access":"admin","body":"none"}])");
}

}  // namespace
}  // namespace penstock::front
