#include "front/http/server/router.h"

#include <gtest/gtest.h>

namespace penstock::front {
namespace {

Route route(Method method, std::string_view pattern) {
  return {method, pattern, Access::open, BodyLimit::none, [](const Request&, Reply&&) {}};
}

class RouterTest : public testing::Test {
 protected:
  // What was found, as "METHOD pattern [params]" or the status.
  std::string find(Method method, std::string_view path) {
    const RouteMatch match = router_.match(method, path, params_);
    if (match.status == 405) return "405 " + match.allow;
    if (match.status != 0) return std::to_string(match.status);
    std::string out(to_string(match.route->method));
    out += ' ';
    out += match.route->pattern;
    for (const std::string& param : params_) out += " [" + param + "]";
    return out;
  }

  std::vector<std::string> params_;
  const Router router_{{
      route(Method::get, "/"),
      route(Method::get, "/health/live"),
      route(Method::post, "/slots"),
      route(Method::post, "/slots/batch"),
      route(Method::get, "/slots/{id}"),
      route(Method::del, "/slots/{id}"),
      route(Method::post, "/slots/{id}/confirm"),
      route(Method::get, "/a/{x}/c"),
      route(Method::get, "/a/b/d"),
      route(Method::get, "/types/{type}/items/{item}"),
  }};
};

TEST_F(RouterTest, finds_literal_paths) {
  EXPECT_EQ(find(Method::get, "/"), "GET /");
  EXPECT_EQ(find(Method::get, "/health/live"), "GET /health/live");
  EXPECT_EQ(find(Method::post, "/slots"), "POST /slots");
}

TEST_F(RouterTest, fills_names) {
  EXPECT_EQ(find(Method::get, "/slots/e1"), "GET /slots/{id} [e1]");
  EXPECT_EQ(find(Method::post, "/slots/e1/confirm"), "POST /slots/{id}/confirm [e1]");
  EXPECT_EQ(find(Method::get, "/types/t/items/i"), "GET /types/{type}/items/{item} [t] [i]");
}

TEST_F(RouterTest, decodes_names_after_cutting) {
  EXPECT_EQ(find(Method::get, "/slots/a%2Fb"), "GET /slots/{id} [a/b]");
  EXPECT_EQ(find(Method::get, "/slots/%2e%2e"), "GET /slots/{id} [..]");
  EXPECT_EQ(find(Method::get, "/slots/a+b"), "GET /slots/{id} [a+b]");
  EXPECT_EQ(find(Method::get, "/slots/%00"), std::string("GET /slots/{id} [\0]", 19));
  EXPECT_EQ(find(Method::get, "/slots/\xff"), "GET /slots/{id} [\xff]");
}

TEST_F(RouterTest, broken_encoding_is_400) {
  EXPECT_EQ(find(Method::get, "/slots/%"), "400");
  EXPECT_EQ(find(Method::get, "/slots/%4"), "400");
  EXPECT_EQ(find(Method::get, "/slots/%zz"), "400");
}

TEST_F(RouterTest, literals_are_not_decoded) {
  EXPECT_EQ(find(Method::get, "/health%2Flive"), "404");
  EXPECT_EQ(find(Method::get, "/%68ealth/live"), "404");
  EXPECT_EQ(find(Method::get, "/HEALTH/live"), "404");
}

TEST_F(RouterTest, literal_beats_name) {
  EXPECT_EQ(find(Method::post, "/slots/batch"), "POST /slots/batch");
}

TEST_F(RouterTest, name_stands_in_where_the_literal_lacks_the_method) {
  EXPECT_EQ(find(Method::get, "/slots/batch"), "GET /slots/{id} [batch]");
}

TEST_F(RouterTest, goes_back_from_a_literal_that_leads_nowhere) {
  EXPECT_EQ(find(Method::get, "/a/b/d"), "GET /a/b/d");
  EXPECT_EQ(find(Method::get, "/a/b/c"), "GET /a/{x}/c [b]");
  EXPECT_EQ(find(Method::get, "/a/z/d"), "404");
}

TEST_F(RouterTest, slashes_count) {
  for (const char* path : {"", "x", "//", "/health/live/", "//health/live", "/health//live",
                           "/slots/", "/slots//", "/slots//confirm", "/slots/e1/"}) {
    EXPECT_EQ(find(Method::post, path), "404") << path;
    EXPECT_EQ(find(Method::get, path), "404") << path;
  }
}

TEST_F(RouterTest, wrong_method_lists_the_right_ones) {
  EXPECT_EQ(find(Method::put, "/health/live"), "405 GET, HEAD");
  EXPECT_EQ(find(Method::other, "/health/live"), "405 GET, HEAD");
  EXPECT_EQ(find(Method::get, "/slots"), "405 POST");
  EXPECT_EQ(find(Method::put, "/slots/e1"), "405 GET, HEAD, DELETE");
  EXPECT_EQ(find(Method::put, "/slots/batch"), "405 GET, HEAD, POST, DELETE");
}

TEST_F(RouterTest, head_uses_the_route_of_get) {
  EXPECT_EQ(find(Method::head, "/health/live"), "GET /health/live");
  EXPECT_EQ(find(Method::head, "/slots"), "405 POST");
}

TEST_F(RouterTest, deep_paths_are_unknown) {
  std::string path;
  for (int i = 0; i < 1'000; ++i) path += "/a";
  EXPECT_EQ(find(Method::get, path), "404");
  EXPECT_EQ(find(Method::get, std::string(10'000, '/')), "404");
}

TEST(RouterDeathTest, refuses_two_routes_for_one_path) {
  EXPECT_DEATH(Router({route(Method::get, "/a/{x}"), route(Method::get, "/a/{y}")}), "place");
}

}  // namespace
}  // namespace penstock::front
