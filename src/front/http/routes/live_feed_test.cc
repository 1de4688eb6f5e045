#include "front/http/routes/live_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "wire/json.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;

class SetClock final : public Clock {
 public:
  Instant now() const noexcept override { return at; }
  Instant at = from_epoch_millis(1'800'000'000'000);
};

class LiveFeedTest : public testing::Test {
 protected:
  SharedEvent next() {
    clock_.at += Seconds{1};
    return feed_.sample();
  }
  // The JSON of an event's `data:` line.
  static std::string data_of(std::string_view bytes) {
    const std::size_t start = bytes.find("data: ") + 6;
    return std::string(bytes.substr(start, bytes.find('\n', start) - start));
  }
  static std::int64_t rows_of(const Response& response) {
    const std::string data = data_of(response.body);
    const auto document = wire::parse_json(data);
    EXPECT_TRUE(document);
    std::int64_t rows = 0;
    for (auto row = document->root().find("rows").first(); row; row = row.next()) ++rows;
    return rows;
  }

  SetClock clock_;
  runtime::Metrics metrics_;
  bool up_ = true;
  LiveFeed feed_{metrics_,
                 {{"store.test",
                   [this]() -> Result<void> {
                     if (up_) return {};
                     return fail(ErrorKind::unavailable, "gone");
                   }},
                  {.name = "sink.unused",
                   .check = []() -> Result<void> { return fail(ErrorKind::unavailable, "unset"); },
                   .applies = [] { return false; }}},
                 clock_};
};

TEST_F(LiveFeedTest, what_the_checks_say_is_a_metric) {
  const auto text = [&] { return metrics_.prometheus_text(); };
  next();
  EXPECT_THAT(text(), HasSubstr("penstock_check_up{check=\"store.test\"} 1\n"));
  up_ = false;
  next();
  EXPECT_THAT(text(), HasSubstr("penstock_check_up{check=\"store.test\"} 0\n"));
  EXPECT_THAT(text(), HasSubstr("penstock_check_up{check=\"sink.unused\"} 1\n"));
}

TEST_F(LiveFeedTest, samples_totals_by_column) {
  metrics_.counter("throttlex_allowed_total", "").add(7);
  metrics_.counter("throttlex_blocked_total", "").add(3);
  metrics_.histogram("penstock_slots_delay_seconds", "", {1, 10}).observe(2.5, 4);
  metrics_.counter("penstock_http_requests_total", "", {{"method", "GET"}, {"status", "200"}})
      .add(5);
  metrics_.counter("penstock_http_requests_total", "", {{"method", "GET"}, {"status", "503"}})
      .add(2);
  const std::string data = data_of(next()->bytes);
  const auto document = wire::parse_json(data);
  ASSERT_TRUE(document) << data;
  EXPECT_THAT(data, HasSubstr("\"c\":[7,3,0,0,0,0,0,10,4,0,0,0,0,0,0,0,0,0,0,7,2,0]"));
  EXPECT_THAT(data, HasSubstr("\"t\":1800000001000"));
  EXPECT_THAT(data, HasSubstr(R"("checks":[{"name":"store.test","up":true}])"));
}

TEST_F(LiveFeedTest, tells_each_item_type_apart) {
  metrics_.counter("dispatch_workflow_started_total", "", {{"item_type", "b\"q"}}).add(4);
  metrics_.counter("dispatch_workflow_started_total", "", {{"item_type", "a"}}).add(1);
  metrics_.gauge("dispatch_queue_depth", "", {{"item_type", "a"}, {"status", "READY"}}).set(9);
  metrics_.gauge("dispatch_queue_depth", "", {{"item_type", "a"}, {"status", "DEAD"}}).set(2);
  metrics_.gauge("dispatch_paused", "", {{"item_type", "a"}}).set(1);
  const std::string data = data_of(next()->bytes);
  ASSERT_TRUE(wire::parse_json(data)) << data;
  EXPECT_THAT(data, HasSubstr(R"({"type":"a","dispatched":1,"failed":0,"slowDowns":0,)"
                              R"("paceUsed":0.000,"paused":true,"leaseHeld":false,)"
                              R"("depths":[9,0,0,2,0]},{"type":"b\"q","dispatched":4)"));
}

TEST_F(LiveFeedTest, tells_why_a_check_is_down) {
  up_ = false;
  EXPECT_THAT(next()->bytes, HasSubstr(R"({"name":"store.test","up":false,"message":"gone"})"));
}

TEST_F(LiveFeedTest, numbers_events_and_opens_behind_the_newest) {
  EXPECT_EQ(feed_.open().stream_after, 0U);
  EXPECT_EQ(next()->number, 1U);
  EXPECT_EQ(next()->number, 2U);
  const Response opened = feed_.open();
  EXPECT_EQ(opened.stream_after, 2U);
  EXPECT_EQ(opened.content_type, "text/event-stream; charset=utf-8");
  EXPECT_EQ(rows_of(opened), 2);
}

TEST_F(LiveFeedTest, keeps_an_hour_and_thins_what_is_old) {
  for (int i = 0; i < 4'000; ++i) next();
  const Response opened = feed_.open();
  EXPECT_EQ(rows_of(opened), 180 + (3'600 - 180) / 10);
  EXPECT_LT(opened.body.size(), 150'000U);
  // The oldest kept is the first of the last hour.
  EXPECT_THAT(opened.body, HasSubstr("\"rows\":[[1800000410000,"));
}

TEST_F(LiveFeedTest, is_guarded_by_the_admin_token) {
  std::vector<Route> routes;
  add_event_routes(routes, feed_);
  ASSERT_EQ(routes.size(), 1U);
  EXPECT_EQ(routes[0].pattern, "/admin/events");
  EXPECT_EQ(routes[0].access, Access::admin);
}

}  // namespace
}  // namespace penstock::front
