#include "front/http/routes/routes.h"

#include <gmock/gmock.h>

#include "front/http/routes/test_throttle.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class AdminRoutes : public ThrottleRoutesTest {
 protected:
  AdminRoutes() { add_throttle_routes(routes_, *throttle_, clock_); }

  Response post(std::string body) {
    return send(Method::post, "/admin/policies", {.body = std::move(body)});
  }
  Response policy(Method method, std::string key, std::string body = {}) {
    return send(method, "/admin/policies/{key}",
                {.body = std::move(body), .param = std::move(key)});
  }
  Response list(std::string query = {}) {
    return send(Method::get, "/admin/policies", {.query = std::move(query)});
  }
  void use_key(std::string_view key, std::int64_t cost) {
    core::ThrottleCall call;
    call.add(key);
    call.cost = cost;
    core::ThrottleDecision decision;
    ASSERT_TRUE(throttle_->check(call, decision));
  }
};

TEST_F(AdminRoutes, create_a_policy_with_201_and_its_place) {
  const Response response =
      post(R"({"key":"user/1*","type":"GCRA","capacity":7,"refillRate":0.50})");
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(header(response, "Location"), "/admin/policies/user%2F1%2A");
  EXPECT_EQ(response.body,
            R"({"id":1,"policyKey":"user/1*","type":"GCRA","capacity":7,"refillRate":0.50,)"
            R"("windowSeconds":60,"shadow":false,"onStoreFailure":"deny","version":1})");
  EXPECT_EQ(policy(Method::get, "user/1*").body, response.body);
}

TEST_F(AdminRoutes, refuse_a_duplicate_and_bad_fields) {
  ASSERT_EQ(post(R"({"key":"k"})").status, 201);
  EXPECT_EQ(post(R"({"policyKey":"k"})").status, 409);
  const Response bad = post(R"({"key":"x","capacity":0})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr(R"("field":"capacity")"));
  EXPECT_EQ(post("[").status, 400);
}

TEST_F(AdminRoutes, update_but_never_create_by_put) {
  EXPECT_EQ(policy(Method::put, "k", R"({"capacity":9})").status, 404);
  ASSERT_EQ(post(R"({"key":"k","capacity":5,"shadow":true})").status, 201);
  const Response updated = policy(Method::put, "k", R"({"key":"k","capacity":9})");
  EXPECT_EQ(updated.status, 200);
  EXPECT_THAT(updated.body, HasSubstr(R"("capacity":9)"));
  EXPECT_THAT(updated.body, HasSubstr(R"("shadow":false)"));  // replaced as a whole
  EXPECT_THAT(updated.body, HasSubstr(R"("version":2)"));
  EXPECT_EQ(policy(Method::put, "k", R"({"key":"other"})").status, 400);
  EXPECT_EQ(policy(Method::put, std::string("a\nb"), "{}").status, 400);
}

TEST_F(AdminRoutes, merge_by_patch) {
  EXPECT_EQ(policy(Method::patch, "k", R"({"capacity":9})").status, 404);
  ASSERT_EQ(post(R"({"key":"k","capacity":5,"refillRate":0.50,"shadow":true})").status, 201);
  const Response merged = policy(Method::patch, "k", R"({"capacity":9,"type":null})");
  EXPECT_EQ(merged.status, 200);
  EXPECT_EQ(merged.body,
            R"({"id":1,"policyKey":"k","type":"TOKEN_BUCKET","capacity":9,"refillRate":0.50,)"
            R"("windowSeconds":60,"shadow":true,"onStoreFailure":"deny","version":2})");
  EXPECT_EQ(policy(Method::patch, "k", R"({"policyKey":"other"})").status, 400);
  EXPECT_EQ(policy(Method::patch, "k", merged.body).status, 200) << "as it was shown";
}

TEST_F(AdminRoutes, name_the_nearest_field_to_one_they_do_not_know) {
  const Response response = post(R"({"key":"k","capcity":5})");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr(R"("field":"capcity")"));
  EXPECT_THAT(response.body, HasSubstr("did you mean capacity?"));
}

TEST_F(AdminRoutes, delete_with_204_and_keep_the_history) {
  EXPECT_EQ(policy(Method::del, "k").status, 404);
  ASSERT_EQ(post(R"({"key":"k"})").status, 201);
  EXPECT_EQ(policy(Method::del, "k").status, 204);
  EXPECT_EQ(policy(Method::get, "k").status, 404);
  const Response history = send(Method::get, "/admin/policies/{key}/history", {.param = "k"});
  EXPECT_EQ(history.status, 200);
  EXPECT_THAT(history.body, MatchesRegex(R"(\[\{.*"version":2,"changedAt":.*"deleted":true\},)"
                                         R"(\{.*"version":1,"changedAt":.*"deleted":false\}\])"));
  EXPECT_EQ(send(Method::get, "/admin/policies/{key}/history", {.param = "nope"}).status, 404);
}

TEST_F(AdminRoutes, list_policies_in_pages) {
  EXPECT_EQ(list().body, "[]");
  for (const char* key : {"a", "b c", "d"}) {
    ASSERT_EQ(post(R"({"key":")" + std::string(key) + R"("})").status, 201);
  }
  EXPECT_EQ(header(list("limit=3"), "Link"), "");
  const Response first = list("limit=2");
  EXPECT_EQ(header(first, "Link"), R"(</admin/policies?limit=2&after=b%20c>; rel="next")");
  EXPECT_THAT(first.body, MatchesRegex(R"(\[\{.*"a".*\},\{.*"b c".*\}\])"));
  const Response second = list("limit=2&after=b%20c");
  EXPECT_THAT(second.body, MatchesRegex(R"(\[\{"id":3,"policyKey":"d".*\}\])"));
  for (const char* query : {"limit=0", "limit=1001", "limit=x", "limit=-1", "limit=2x"}) {
    EXPECT_THAT(list(query).body, HasSubstr(R"("field":"limit")")) << query;
  }
}

TEST_F(AdminRoutes, tell_the_metrics_of_a_key) {
  given("user-123", 5);
  use_key("user-123", 2);
  const Response response = send(Method::get, "/admin/metrics/{key}", {.param = "user-123"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"key":"user-123","algorithm":"TOKEN_BUCKET","currentTokens":3,"capacity":5,)"
            R"("windowRequestCount":2,"windowSeconds":60,"status":"OK"})");
  use_key("user-123", 3);
  EXPECT_THAT(send(Method::get, "/admin/metrics/{key}", {.param = "user-123"}).body,
              HasSubstr(R"("status":"LIMITED")"));
}

TEST_F(AdminRoutes, reset_a_key) {
  use_key("k", 40);
  const Response response = send(Method::post, "/admin/reset/{key}", {.param = "k"});
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("currentTokens":100)"));
  EXPECT_FALSE(*limits_.find("k", {}));
}

TEST_F(AdminRoutes, tell_totals_and_a_page_of_keys) {
  given("b", 1);
  use_key("a", 1);
  use_key("b", 1);
  use_key("b", 1);
  const Response all = send(Method::get, "/admin/metrics", {});
  EXPECT_THAT(all.body, HasSubstr(R"({"allowedTotal":2,"blockedTotal":1,"shadowDeniedTotal":0,)"
                                  R"("policies":1,"keys":[{"key":"a",)"));
  const Response page = send(Method::get, "/admin/metrics", {.query = "limit=1"});
  EXPECT_EQ(header(page, "Link"), R"(</admin/metrics?limit=1&after=a>; rel="next")");
  EXPECT_THAT(send(Method::get, "/admin/metrics", {.query = "limit=1&after=a"}).body,
              HasSubstr(R"("keys":[{"key":"b",)"));
}

TEST_F(AdminRoutes, tell_the_status) {
  bool up = true;
  add_status_route(routes_,
                   {.version = "1.2.3", .store = "embedded", .check = [&]() -> Result<void> {
                      if (up) return {};
                      return fail(ErrorKind::unavailable, "the disk is full");
                    }});
  EXPECT_EQ(send(Method::get, "/admin/status", {}).body,
            R"({"status":"UP","version":"1.2.3","commit":null,"uptimeSeconds":0,"mode":"service",)"
            R"("store":"embedded"})");
  up = false;
  EXPECT_THAT(send(Method::get, "/admin/status", {}).body, HasSubstr(R"({"status":"DOWN")"));
}

TEST_F(AdminRoutes, tell_the_commit_beside_the_version) {
  add_status_route(routes_, {.version = "1.2.3",
                             .commit = "a02ceec-dirty",
                             .store = "embedded",
                             .check = []() -> Result<void> { return {}; }});
  EXPECT_THAT(send(Method::get, "/admin/status", {}).body,
              HasSubstr(R"("version":"1.2.3","commit":"a02ceec-dirty",)"));
}

TEST_F(AdminRoutes, name_the_keys_that_were_denied_most) {
  ASSERT_EQ(post(R"({"key":"tight*","capacity":1,"refillRate":0.000001})").status, 201);
  for (int i = 0; i < 4; ++i) use_key("tight1", 1);
  for (int i = 0; i < 3; ++i) use_key("tight2", 1);
  use_key("tight3", 1);
  use_key("tight2", 0);  // a look is no denial
  const auto top = [&](std::string query) {
    return send(Method::get, "/admin/throttle/top-denied", {.query = std::move(query)});
  };
  EXPECT_EQ(top("").body,
            R"([{"key":"tight1","denied":3,"error":0},{"key":"tight2","denied":2,"error":0}])");
  EXPECT_EQ(top("limit=1").body, R"([{"key":"tight1","denied":3,"error":0}])");
  EXPECT_EQ(top("limit=0").status, 400);
}

}  // namespace
}  // namespace penstock::front
