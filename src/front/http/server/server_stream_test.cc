// Answers that go on with events: who gets which, and who is dropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "front/http/server/server.h"
#include "front/http/server/test_server.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;

SharedEvent event(std::uint64_t number, std::string bytes) {
  return std::make_shared<const StreamEvent>(StreamEvent{number, std::move(bytes)});
}

// /stream begins with "begin;" and goes on behind event 10.
std::vector<Route> with_stream() {
  auto routes = test_routes();
  routes.push_back(
      {Method::get, "/stream", Access::admin, BodyLimit::none, [](const Request&, Reply&& reply) {
         reply({.body = "begin;", .content_type = "text/event-stream", .stream_after = 10});
       }});
  return routes;
}

TEST(HttpStream, goes_on_with_the_events_behind_its_beginning) {
  TestServer server(HttpLimits{}, with_stream());
  auto client = server.connect();
  ASSERT_TRUE(client.send(get("/stream")));
  const std::string head = client.receive_until("begin;");
  EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(head, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
  server->publish(event(10, "old;"));
  server->publish(event(11, "eleven;"));
  server->publish(event(12, "twelve;"));
  EXPECT_THAT(client.receive_until("twelve;"), testing::EndsWith("begin;eleven;twelve;"));
}

TEST(HttpStream, is_sent_to_all_viewers_and_to_nobody_else) {
  TestServer server(HttpLimits{}, with_stream());
  std::vector<TestClient> viewers;
  for (int i = 0; i < 6; ++i) {
    viewers.push_back(server.connect());
    ASSERT_TRUE(viewers.back().send(get("/stream")));
    viewers.back().receive_until("begin;");
  }
  auto other = server.connect();
  ASSERT_TRUE(other.ask(get("/live")));
  server->publish(event(11, "hello;"));
  for (TestClient& viewer : viewers) {
    EXPECT_THAT(viewer.receive_until("hello;"), HasSubstr("begin;hello;"));
  }
  const auto answer = other.ask(get("/live"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "up");
}

TEST(HttpStream, answers_head_without_beginning_one) {
  TestServer server(HttpLimits{}, with_stream());
  auto client = server.connect();
  ASSERT_TRUE(client.send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(client.receive(true)->status, 200);
  EXPECT_EQ(client.ask(get("/live"))->body, "up");
}

TEST(HttpStream, needs_the_token_of_its_route) {
  TestServer server(HttpLimits{}, with_stream(), {.admin = "secret"});
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/stream"))->status, 401);
  ASSERT_TRUE(client.send(get("/stream", "Authorization: Bearer secret\r\n")));
  EXPECT_THAT(client.receive_until("begin;"), HasSubstr("200 OK"));
}

TEST(HttpStream, has_a_limit_of_viewers_and_counts_who_left) {
  HttpLimits limits;
  limits.streams = 1;
  TestServer server(limits, with_stream());
  auto first = server.connect();
  ASSERT_TRUE(first.send(get("/stream")));
  first.receive_until("begin;");
  auto second = server.connect();
  EXPECT_EQ(second.ask(get("/stream"))->status, 503);
  first.close();
  ASSERT_TRUE(server.waits_for_metric("penstock_http_streams 0"));
  auto third = server.connect();
  ASSERT_TRUE(third.send(get("/stream")));
  EXPECT_THAT(third.receive_until("begin;"), HasSubstr("begin;"));
}

TEST(HttpStream, drops_a_viewer_that_does_not_read) {
  HttpLimits limits;
  limits.stream_unread_bytes = 64 * 1024;
  TestServer server(limits, with_stream());
  auto lazy = server.connect();
  ASSERT_TRUE(lazy.send(get("/stream")));
  auto keen = server.connect();
  ASSERT_TRUE(keen.send(get("/stream")));
  keen.receive_until("begin;");
  ASSERT_TRUE(server.waits_for_metric("penstock_http_streams 2"));
  // The kernel's buffers hold some megabytes of loopback; far more than that is sent.
  const std::string much(1 << 20, 'x');
  std::uint64_t number = 11;
  for (int i = 0; i < 32; ++i, ++number) {
    server->publish(event(number, much + "end" + std::to_string(number) + ";"));
    keen.receive_until("end" + std::to_string(number) + ";");
  }
  EXPECT_TRUE(server.waits_for_metric("penstock_http_streams 1"));
}

TEST(HttpStream, catches_up_when_a_slow_viewer_reads_again) {
  HttpLimits limits;
  limits.stream_unread_bytes = 1 << 30;
  TestServer server(limits, with_stream());
  auto viewer = server.connect();
  ASSERT_TRUE(viewer.send(get("/stream")));
  viewer.receive_until("begin;");
  const std::string much(1 << 20, '#');
  for (std::uint64_t i = 0; i < 16; ++i) server->publish(event(11 + i, much));
  server->publish(event(27, "last;"));
  const std::string all = viewer.receive_until("last;");
  EXPECT_EQ(std::ranges::count(all, '#'), 16 << 20);
}

TEST(HttpStream, ends_with_the_server) {
  TestServer server(HttpLimits{}, with_stream());
  auto viewer = server.connect();
  ASSERT_TRUE(viewer.send(get("/stream")));
  viewer.receive_until("begin;");
  server->stop();
  server->publish(event(11, "late;"));
  EXPECT_THAT(viewer.receive_until("late;"), Not(HasSubstr("late;")));
}

}  // namespace
}  // namespace penstock::front
