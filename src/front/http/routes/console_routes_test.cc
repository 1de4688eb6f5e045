#include "front/http/routes/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/time.h"
#include "front/http/server/router.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array kFiles = {
    ConsoleFile{"/index.html", "text/html; charset=utf-8", "\"i1\"", "<html>", "gz-i", "br-i"},
    ConsoleFile{"/assets/a-1.js", "text/javascript; charset=utf-8", "\"a1\"", "let", "gz-a", ""},
};

Response ask(std::string_view path,
             std::vector<std::pair<std::string_view, std::string_view>> headers = {},
             std::span<const ConsoleFile> files = kFiles) {
  std::vector<Route> routes;
  const SimulatedClock clock(from_epoch_millis(0));
  add_console_routes(routes, files, clock);
  Request request;
  const Router router(routes);
  const Route* const route = router.match(Method::get, path, request.params).route;
  Response answer{.status = 0};
  if (route == nullptr) return answer;
  EXPECT_EQ(route->access, Access::everyone);
  request.path = path;
  request.headers = std::move(headers);
  route->handler(request, [&](Response&& response) { answer = std::move(response); });
  return answer;
}

TEST(ConsoleRoutes, give_the_page_at_the_root_with_a_strict_policy) {
  const Response page = ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<html>");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.header_lines, HasSubstr("default-src 'none'; script-src 'self'"));
  EXPECT_THAT(page.header_lines, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page.header_lines, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(page.header_lines, HasSubstr("Cache-Control: no-cache\r\n"));
  EXPECT_THAT(page.header_lines, Not(HasSubstr("Content-Encoding")));
}

TEST(ConsoleRoutes, let_assets_be_kept_for_ever) {
  const Response asset = ask("/assets/a-1.js");
  EXPECT_EQ(asset.body, "let");
  EXPECT_THAT(asset.header_lines, HasSubstr("max-age=31536000, immutable\r\n"));
  EXPECT_THAT(asset.header_lines, HasSubstr("ETag: W/\"a1\"\r\n"));
}

TEST(ConsoleRoutes, send_the_best_coding_that_the_client_takes) {
  const auto body = [](std::string_view accepted) {
    return ask("/", {{"Accept-Encoding", accepted}}).body;
  };
  EXPECT_EQ(body("gzip, deflate, br"), "br-i");
  EXPECT_EQ(body("gzip;q=0.8"), "gz-i");
  EXPECT_EQ(body("br;q=0, GZIP"), "gz-i");
  EXPECT_EQ(body("br;q=0.0,gzip;q=0"), "<html>");
  EXPECT_EQ(body("brotli, xgzip"), "<html>");
  EXPECT_EQ(body(",,;,"), "<html>");
  const Response asset = ask("/assets/a-1.js", {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(asset.body, "gz-a");
  EXPECT_THAT(asset.header_lines, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(asset.header_lines, HasSubstr("Vary: Accept-Encoding\r\n"));
}

TEST(ConsoleRoutes, answer_304_to_who_has_it) {
  for (const std::string_view known : {"\"i1\"", "W/\"i1\"", "\"x\", W/\"i1\"", "*"}) {
    const Response response = ask("/", {{"If-None-Match", known}});
    EXPECT_EQ(response.status, 304) << known;
    EXPECT_TRUE(response.body.empty());
    EXPECT_THAT(response.header_lines, HasSubstr("ETag: W/\"i1\"\r\n"));
  }
  EXPECT_EQ(ask("/", {{"If-None-Match", "\"i2\""}}).status, 200);
}

TEST(ConsoleRoutes, say_how_to_build_the_page_when_there_is_none) {
  const Response page = ask("/", {}, {});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("npm"));
  EXPECT_THAT(page.header_lines, HasSubstr("default-src 'none'"));
}

TEST(ConsoleRoutes, say_404_of_files_that_are_not_there) {
  EXPECT_EQ(ask("/assets/b-2.js").status, 404);
  EXPECT_EQ(ask("/favicon.svg").status, 404);
  EXPECT_EQ(ask("/assets/..%2Findex.html").status, 404);
}

TEST(FileRoutes, give_each_file_at_its_path_under_the_same_policy) {
  static constexpr std::array kPages = {
      ConsoleFile{"/docs", "text/html; charset=utf-8", "\"d1\"", "<p>", "gz", "br"},
      ConsoleFile{"/openapi.json", "application/json", "\"o1\"", "{}", "", ""},
      ConsoleFile{"/docs/reference.css", "text/css", "\"c1\"", "p{}", "", ""},
      ConsoleFile{"/docs/reference.js", "text/javascript", "\"j1\"", "let", "", ""},
  };
  std::vector<Route> routes;
  add_description_routes(routes, kPages);
  ASSERT_EQ(routes.size(), 4U);
  EXPECT_EQ(routes[0].pattern, "/openapi.json");
  EXPECT_EQ(routes[0].access, Access::everyone);
  Response answer;
  routes[0].handler({}, [&](Response&& response) { answer = std::move(response); });
  EXPECT_EQ(answer.body, "{}");
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_THAT(answer.header_lines, HasSubstr("default-src 'none'; script-src 'self'"));
  EXPECT_THAT(answer.header_lines, HasSubstr("ETag: W/\"o1\"\r\n"));
  EXPECT_THAT(answer.header_lines, HasSubstr("Cache-Control: no-cache\r\n"));
}

}  // namespace
}  // namespace penstock::front
