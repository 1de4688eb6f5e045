#include "daemon/compose/throttle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "daemon/config/load.h"
#include "front/http/server/router.h"
#include "service/testing/throttle_stores.h"

namespace penstock::daemon {
namespace {

using testing::HasSubstr;

class ComposeThrottle : public testing::Test {
 protected:
  Result<void> compose(const ThrottleConfig& config) {
    throttle_ =
        PENSTOCK_TRY(compose_throttle(config, limits_, policies_, clock_, log_, metrics_, routes_));
    return {};
  }

  // The answer of a route that answers at once.
  front::Response ask(front::Method method, std::string_view path, std::string_view body) {
    const front::Router router(routes_);
    front::Request request{.method = method, .body = body, .peer_address = "203.0.113.9"};
    const front::RouteMatch match = router.match(method, path, request.params);
    front::Response answer{.status = match.status};
    if (match.route == nullptr) return answer;
    match.route->handler(request,
                         [&](front::Response&& response) { answer = std::move(response); });
    return answer;
  }

  SimulatedClock clock_{from_epoch_millis(1'748'779'200'000)};
  Log log_{clock_, 2, LogLevel::off, LogFormat::json};
  runtime::Metrics metrics_;
  service::FakeLimits limits_;
  service::FakePolicies policies_;
  std::vector<front::Route> routes_;
  std::unique_ptr<service::ThrottleService> throttle_;
};

TEST_F(ComposeThrottle, decides_by_the_default_policy_of_the_config) {
  const auto loaded =
      load_config({.environment = {{"PENSTOCK_THROTTLE_DEFAULT_POLICY_CAPACITY", "7"},
                                   {"PENSTOCK_THROTTLE_DEFAULT_POLICY_TYPE", "FIXED_WINDOW"}}});
  ASSERT_TRUE(loaded);
  ASSERT_TRUE(compose(loaded->config.throttle));
  const front::Response answer =
      ask(front::Method::post, "/api/v1/throttle/check", R"({"key":"k"})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("limit":7,"remaining":6)"));
  EXPECT_THAT(answer.header_lines, HasSubstr("RateLimit-Policy: \"default\";q=7;w=60\r\n"));
}

TEST_F(ComposeThrottle, has_all_routes_of_throttle_each_behind_its_token) {
  ASSERT_TRUE(compose({}));
  for (const front::Route& route : routes_) {
    const bool admin = route.pattern.starts_with("/admin/");
    EXPECT_EQ(route.access, admin ? front::Access::admin : front::Access::api) << route.pattern;
  }
  EXPECT_EQ(ask(front::Method::get, "/throttle/filter", "").status, 204);
  EXPECT_EQ(ask(front::Method::get, "/api/v1/throttle/check", "").status, 405);
}

TEST_F(ComposeThrottle, fails_without_its_policies) {
  policies_.away = true;
  EXPECT_FALSE(compose({}));
}

}  // namespace
}  // namespace penstock::daemon
