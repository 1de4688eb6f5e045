#include "front/http/routes/routes.h"

#include <gmock/gmock.h>

#include "front/http/routes/test_throttle.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kFilter = "/throttle/filter";

class FilterRoutes : public ThrottleRoutesTest {
 protected:
  FilterRoutes() { use({}); }

  void use(wire::FilterRules rules) {
    routes_.clear();
    add_filter_routes(routes_, *throttle_, std::move(rules), clock_);
  }
  Response ask(ThrottleCallText call, Method method = Method::get) {
    return send(method, kFilter, call);
  }
  std::vector<std::string> keys() {
    std::vector<std::string> out;
    const auto uses = limits_.list("", 100, {});
    for (const store::KeyUse& use : *uses) out.push_back(use.key);
    return out;
  }
};

TEST_F(FilterRoutes, let_a_request_pass_with_204_and_headers) {
  const Response response = ask({});
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(header(response, "X-RateLimit-Limit"), "100");
  EXPECT_EQ(header(response, "X-RateLimit-Remaining"), "99");
  EXPECT_THAT(keys(), testing::ElementsAre("ip:203.0.113.9"));
}

TEST_F(FilterRoutes, take_every_method) {
  for (const Method method : {Method::get, Method::head, Method::post, Method::put, Method::patch,
                              Method::del, Method::options}) {
    EXPECT_EQ(ask({}, method).status, 204);
  }
}

TEST_F(FilterRoutes, deny_as_the_proxy_understands_it) {
  given("ip:*", 1);
  ASSERT_EQ(ask({}).status, 204);
  const Response forward = ask({});
  EXPECT_EQ(forward.status, 429);
  EXPECT_EQ(header(forward, "Retry-After"), "2");
  EXPECT_THAT(forward.body, HasSubstr("Rate limit exceeded for key: ip:203.0.113.9"));
  EXPECT_EQ(ask({.query = "mode=forward"}).status, 429);
  const Response nginx = ask({.query = "mode=nginx"});
  EXPECT_EQ(nginx.status, 403);
  EXPECT_EQ(header(nginx, "Retry-After"), "2");
  const Response unknown = ask({.query = "mode=apache"});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr(R"("field":"mode")"));
}

TEST_F(FilterRoutes, limit_address_and_api_key_together_or_not_at_all) {
  given("apiKey:*", 1);
  ASSERT_EQ(ask({.headers = {{"x-api-key", "abc"}}}).status, 204);
  EXPECT_EQ(ask({.headers = {{"x-api-key", "abc"}}}).status, 429);
  // The denial charged nobody.
  EXPECT_EQ((*limits_.find("ip:203.0.113.9", {}))->used, 1);
}

TEST_F(FilterRoutes, give_no_fresh_bucket_for_a_made_up_key_or_address) {
  given("ip:*", 3);
  int passed = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string made_up = std::to_string(i);
    passed += ask({.headers = {{"X-Forwarded-For", "192.0.2." + made_up},
                               {"X-Real-IP", "192.0.2." + made_up},
                               {"Forwarded", "for=192.0.2." + made_up},
                               {"X-API-Key", "key-" + made_up}}})
                  .status == 204;
  }
  EXPECT_EQ(passed, 3);
}

TEST_F(FilterRoutes, believe_a_trusted_proxy_about_its_client) {
  wire::FilterRules rules;
  rules.trusted_proxies = {*wire::parse_cidr_block("10.0.0.0/8")};
  use(rules);
  ask({.headers = {{"X-Forwarded-For", "6.6.6.6, 198.51.100.1"}, {"X-Forwarded-For", "10.0.0.3"}},
       .peer = "10.0.0.2"});
  EXPECT_THAT(keys(), testing::ElementsAre("ip:198.51.100.1"));
}

TEST_F(FilterRoutes, compose_user_and_route_as_configured) {
  wire::FilterRules rules;
  rules.trusted_proxies = {*wire::parse_cidr_block("10.0.0.2")};
  rules.rules = {{wire::KeyPart::user, wire::KeyPart::route}};
  rules.user_header = "X-Account";
  use(rules);
  for (const char* uri : {"/v1/pay?x=1", "/v1//pay", "/v1/%70ay"}) {
    ask({.headers = {{"x-account", "123"}, {"X-Original-URI", uri}}, .peer = "10.0.0.2"});
    ask({.headers = {{"x-account", "123"}, {"X-Forwarded-Uri", uri}}, .peer = "10.0.0.2"});
  }
  EXPECT_THAT(keys(), testing::ElementsAre("user:123|route:/v1/pay"));
  // The same headers from elsewhere are claims.
  ask({.headers = {{"x-account", "123"}, {"X-Original-URI", "/v1/pay"}}, .peer = "10.0.0.9"});
  EXPECT_THAT(keys(), testing::ElementsAre("ip:10.0.0.9", "user:123|route:/v1/pay"));
}

TEST_F(FilterRoutes, take_the_proxys_word_where_a_client_sent_one_too) {
  wire::FilterRules rules;
  rules.trusted_proxies = {*wire::parse_cidr_block("10.0.0.2")};
  rules.rules = {{wire::KeyPart::user}};
  use(rules);
  ask({.headers = {{"X-User-Id", "victim"}, {"X-User-Id", "real"}}, .peer = "10.0.0.2"});
  EXPECT_THAT(keys(), testing::ElementsAre("user:real"));
}

// A proxy sets the header of its own kind and passes the other on as the client sent it.
TEST_F(FilterRoutes, take_the_route_from_the_header_that_the_proxy_sets) {
  wire::FilterRules rules;
  rules.trusted_proxies = {*wire::parse_cidr_block("10.0.0.2")};
  rules.rules = {{wire::KeyPart::route}};
  use(rules);
  const auto with = [](std::string_view real, std::string_view spoofed, std::string query) {
    return ThrottleCallText{
        .query = std::move(query),
        .headers = {{std::string(spoofed), "/free"}, {std::string(real), "/pay"}},
        .peer = "10.0.0.2"};
  };
  ask(with("X-Original-URI", "X-Forwarded-Uri", "mode=nginx"));
  ask(with("X-Forwarded-Uri", "X-Original-URI", "mode=forward"));
  ask(with("X-Forwarded-Uri", "X-Original-URI", ""));
  EXPECT_THAT(keys(), testing::ElementsAre("route:/pay"));
}

TEST_F(FilterRoutes, answer_503_while_the_usage_cannot_be_asked) {
  limits_.away = true;
  EXPECT_EQ(ask({}).status, 503);
}

}  // namespace
}  // namespace penstock::front
