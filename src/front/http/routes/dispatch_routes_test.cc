// The routes of dispatch, called through the table as the server calls them: status and body.
#include "front/http/routes/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "front/http/routes/test_route_call.h"
#include "front/http/server/router.h"
#include "service/testing/dispatch.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kFarAway = "2200-01-01T00:00:00Z";

class DispatchRoutesTest : public testing::Test {
 protected:
  DispatchRoutesTest() {
    std::vector<Route> routes;
    add_dispatch_routes(routes, *node_.service, 1'000, node_.clock);
    router_ = std::make_unique<Router>(std::move(routes));
    EXPECT_EQ(put_type("P", R"({"jitterWindowMs":0})").status, 200);
  }

  Response query(const std::string& path, const std::string& query) {
    return send(Method::get, path, {}, {}, query);
  }
  Response send(Method method, const std::string& path, std::string body = {},
                std::string content_type = {}, const std::string& query = {}) {
    RouteCall call{.method = method, .path = path, .query = query, .body = std::move(body)};
    if (!content_type.empty()) call.headers = {{"Content-Type", std::move(content_type)}};
    const RouteMatch match = router_->match(method, path, call.params);
    return answer_of(match.route, std::move(call));
  }
  Response put_type(const std::string& type, const std::string& body) {
    return send(Method::put, "/admin/dispatch/types/" + type, body);
  }
  Response post(const std::string& body) { return send(Method::post, "/api/v1/dispatch/P", body); }
  static std::string item(std::string_view id, std::string_view more = R"("context":{"a":1})") {
    return R"({"itemId":")" + std::string(id) + R"(","scheduledTime":")" + std::string(kFarAway) +
           R"(",)" + std::string(more) + "}";
  }

  service::TestDispatchStores stores_;
  service::TestDispatch node_{stores_};
  std::unique_ptr<Router> router_;
};

TEST_F(DispatchRoutesTest, take_an_item_once) {
  const Response first = post(item("a"));
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(
      first.body,
      R"({"itemType":"P","itemId":"a","status":"READY","scheduledTime":"2200-01-01T00:00:00.000Z"})");
  EXPECT_EQ(post(item("a")).status, 200);
  EXPECT_EQ(post(item("a", R"("context": { "a" : 1.0 })")).status, 200) << "JSON-equal";
  const Response other = post(item("a", R"("context":{"a":2})"));
  EXPECT_EQ(other.status, 409);
  EXPECT_THAT(other.body, HasSubstr("another body"));
}

TEST_F(DispatchRoutesTest, refuse_what_is_malformed) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {R"({"scheduledTime":"2200-01-01T00:00:00Z"})", "itemId"},
      {item("has space"), "itemId"},
      {item("batch"), "itemId"},
      {item("summary"), "itemId"},
      {R"({"itemId":"a"})", "scheduledTime"},
      {item("a", R"("slot":{"config":"c"})"), "scheduledTime"},
      {R"({"itemId":"a","scheduledTime":"tomorrow"})", "scheduledTime"},
      {R"({"itemId":"a","slot":"c"})", "slot"},
      {R"({"itemId":"a","slot":{"config":"no space"}})", "slot.config"},
  };
  for (const auto& [body, field] : bad) {
    const Response response = post(body);
    EXPECT_EQ(response.status, 400) << body;
    if (!field.empty()) {
      EXPECT_THAT(response.body, HasSubstr(R"("field":")" + field + R"(")")) << body;
    }
  }
  const Response large = post(item("a", R"("context":")" + std::string(1'000, 'x') + R"(")"));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(send(Method::post, "/api/v1/dispatch/NONE", item("a")).status, 404);
  EXPECT_EQ(send(Method::post, "/api/v1/dispatch/no%20space", item("a")).status, 400);
}

TEST_F(DispatchRoutesTest, take_a_batch_entry_by_entry) {
  const std::string lines = item("a") + "\n\nnot json\n" + item("a") + "\n" + R"({"itemId":"b"})" +
                            "\n" + item("a", R"("context":9)") + "\n";
  const Response response =
      send(Method::post, "/api/v1/dispatch/P/batch", lines, "application/x-ndjson");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body,
              StartsWith(R"({"results":[{"itemId":"a","status":202,"state":"READY",)"));
  EXPECT_THAT(response.body, HasSubstr(R"({"itemId":"","status":400,"error":"Bad Request",)"));
  EXPECT_THAT(response.body, HasSubstr(R"({"itemId":"a","status":200,)"));
  EXPECT_THAT(response.body, HasSubstr(R"({"itemId":"b","status":400,)"));
  EXPECT_THAT(response.body, HasSubstr(R"({"itemId":"a","status":409,"error":"Conflict",)"));
  EXPECT_EQ(send(Method::post, "/api/v1/dispatch/P/batch", "[]").body, R"({"results":[]})");
  EXPECT_EQ(send(Method::post, "/api/v1/dispatch/P/batch", "{}").status, 400);
}

TEST_F(DispatchRoutesTest, show_cancel_and_redrive_an_item) {
  EXPECT_EQ(send(Method::get, "/api/v1/dispatch/P/a").status, 404);
  post(item("a%2Fb"));
  post(item("a/b"));
  const Response shown = send(Method::get, "/api/v1/dispatch/P/a%2Fb");
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, StartsWith(R"({"itemType":"P","itemId":"a/b","status":"READY",)"
                                     R"("scheduledTime":"2200-01-01T00:00:00.000Z","retryCount":0,)"
                                     R"("attempts":0,"lastError":null,"createdAt":")"));
  EXPECT_THAT(shown.body, HasSubstr(R"("claimedAt":null,"dispatchedAt":null,"batchId":null,)"
                                    R"("audit":[{"at":")"));
  EXPECT_THAT(shown.body, HasSubstr(R"("action":"ENQUEUED","from":null,"to":"READY")"));
  EXPECT_EQ(send(Method::post, "/api/v1/dispatch/P/a%2Fb/redrive").status, 409);
  EXPECT_EQ(send(Method::del, "/api/v1/dispatch/P/a%2Fb").status, 204);
  EXPECT_EQ(send(Method::del, "/api/v1/dispatch/P/a%2Fb").status, 409);
  EXPECT_EQ(send(Method::del, "/api/v1/dispatch/P/none").status, 404);
  EXPECT_EQ(post(item("a/b")).status, 409) << "cancelled";
}

TEST_F(DispatchRoutesTest, sum_up) {
  EXPECT_THAT(send(Method::get, "/api/v1/dispatch/P/summary").body,
              StartsWith(R"({"itemType":"P","counts":{"READY":0,"CLAIMED":0,"DISPATCHED":0,)"
                         R"("DEAD":0,"CANCELLED":0},"oldestDue":null,"predictedDrainSeconds":0,)"
                         R"("pausedUntil":null,"leaseHolder":)"));
  post(item("a"));
  EXPECT_THAT(send(Method::get, "/api/v1/dispatch/P/summary").body,
              HasSubstr(R"("oldestDue":"2200-01-01T00:00:00.000Z","predictedDrainSeconds":null)"))
      << "nothing bounds the pace, and nothing went lately";
  EXPECT_EQ(send(Method::get, "/api/v1/dispatch/NONE/summary").status, 404);
}

TEST_F(DispatchRoutesTest, list_what_is_dead_page_by_page) {
  const ItemType type = ItemType::trusted("D>");
  ASSERT_EQ(put_type("D>", R"({"enabled":false})").status, 200);
  std::vector<store::Settlement> refusals;
  for (const char* id : {"a~1", "b", "c"}) {
    ASSERT_EQ(send(Method::post, "/api/v1/dispatch/D>", item(id)).status, 202);
    refusals.push_back({.id = ItemId::trusted(id),
                        .batch_id = "x",
                        .outcome = store::Outcome::refused,
                        .detail = "no such account"});
  }
  store::QueueStore& queue = stores_.queue;
  const Instant then = *parse_instant(kFarAway);
  ASSERT_TRUE(queue.claim({.type = type, .token = 99, .limit = 3}, then));
  ASSERT_TRUE(queue.settle({.type = type, .token = 99, .items = refusals}, then));

  const std::string path = "/api/v1/dispatch/D>";
  Response page = query(path, "status=DEAD&limit=1");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(
      page.body,
      R"([{"itemId":"a~1","status":"DEAD","diedAt":"2200-01-01T00:00:00.000Z",)"
      R"("scheduledTime":"2200-01-01T00:00:00.000Z","attempts":1,"lastError":"no such account"}])");
  for (int more = 0; more < 2; ++more) {
    ASSERT_EQ(page.headers.size(), 1U);
    const std::string& link = page.headers[0].second;
    EXPECT_THAT(link, StartsWith("</api/v1/dispatch/D%3E?status=DEAD&limit=1&after="));
    const std::size_t begin = link.find('?') + 1;
    page = query(path, link.substr(begin, link.find('>') - begin));
    EXPECT_THAT(page.body, HasSubstr(more == 0 ? R"("itemId":"b")" : R"("itemId":"c")"));
  }
  EXPECT_TRUE(page.headers.empty()) << "the last page";
  EXPECT_EQ(query("/api/v1/dispatch/P", "status=DEAD").body, "[]");
  for (const char* bad : {"", "status=READY", "status=DEAD&limit=0", "status=DEAD&after=x",
                          "status=DEAD&after=5", "status=DEAD&after=5~"}) {
    EXPECT_EQ(query(path, bad).status, 400) << bad;
  }
  EXPECT_EQ(query("/api/v1/dispatch/NONE", "status=DEAD").status, 404);
}

TEST_F(DispatchRoutesTest, keep_the_settings_of_types) {
  const std::string url = "/admin/dispatch/types/P";
  EXPECT_EQ(send(Method::get, "/admin/dispatch/types/NONE").status, 404);
  EXPECT_EQ(send(Method::patch, "/admin/dispatch/types/NONE", "{}").status, 404);
  const Response put = put_type(
      "P",
      R"({"maxPerSecond":50,"sink":{"type":"http","url":"http://h/","secrets":["0123456789abcdefg"]}})");
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_THAT(put.body, HasSubstr(R"("jitterWindowMs":4000)")) << "a replacement";
  EXPECT_THAT(put.body, HasSubstr(R"("secrets":1)"));
  EXPECT_THAT(put.body, Not(HasSubstr("0123456789abcdefg")));
  const Response patched = send(Method::patch, url, R"({"enabled":false})");
  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.body, HasSubstr(R"("maxPerSecond":50)"));
  EXPECT_THAT(patched.body, HasSubstr(R"("version":3)"));
  EXPECT_EQ(send(Method::get, url).body, patched.body);
  EXPECT_EQ(put_type("P", patched.body).status, 400) << "secrets are a number there";
  EXPECT_EQ(put_type("P", R"({"itemType":"P","version":3,"changedAt":null})").status, 200);
  EXPECT_EQ(put_type("P", R"({"batchSize":0})").status, 400);
  const Response unknown = put_type("P", R"({"batchSiz":5})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("batchSiz: is unknown; did you mean batchSize?"));
  EXPECT_EQ(put_type("P", "{").status, 400);
  const Response history = send(Method::get, url + "/history");
  EXPECT_THAT(history.body, StartsWith(R"([{"at":")"));
  EXPECT_THAT(history.body, HasSubstr(R"("old":null)"));
  EXPECT_THAT(history.body, Not(HasSubstr("0123456789abcdefg")));
  EXPECT_THAT(send(Method::get, "/admin/dispatch/types").body, StartsWith(R"([{"itemType":"P")"));
}

}  // namespace
}  // namespace penstock::front
