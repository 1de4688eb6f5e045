// Handlers that answer later, from other threads, or never; and the end of the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "front/http/server/server.h"
#include "front/http/server/test_server.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;

std::vector<Route> with_held(Held& held) {
  auto routes = test_routes();
  routes.push_back({Method::get, "/held", Access::open, BodyLimit::none, held.handler()});
  return routes;
}

TEST(HttpReply, keeps_the_order_when_answers_come_late) {
  Held held;
  TestServer server(HttpLimits{}, with_held(held));
  auto client = server.connect();
  ASSERT_TRUE(client.send(get("/held?1") + get("/item/2") + get("/held?3") + get("/item/4")));
  for (const std::string target : {"/held?1", "/held?3"}) {
    held.wait(1);
    auto [asked, reply] = held.take();
    EXPECT_EQ(asked, target);
    reply({.status = 200, .body = asked.substr(6)});
  }
  for (const char* body : {"1", "2", "3", "4"}) {
    const auto response = client.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, body);
  }
}

TEST(HttpReply, a_reply_may_come_from_any_thread) {
  std::vector<std::jthread> workers;
  std::mutex mutex;
  auto routes = test_routes();
  routes.push_back({Method::get, "/later", Access::open, BodyLimit::none,
                    [&](const Request& request, Reply&& reply) {
                      const std::lock_guard lock(mutex);
                      workers.emplace_back(
                          [reply = std::move(reply), id = request.request_id]() mutable {
                            reply({.status = 200, .body = id});
                          });
                    }});
  TestServer server(HttpLimits{}, std::move(routes));
  std::vector<TestClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(server.connect());
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      ASSERT_TRUE(clients[i].send(get("/later", "X-Request-Id: " + std::to_string(i) + "\r\n")));
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const auto response = clients[i].receive();
      ASSERT_TRUE(response);
      EXPECT_EQ(response->body, std::to_string(i));
    }
  }
}

TEST(HttpReply, a_dropped_reply_is_a_500) {
  Held held;
  auto routes = with_held(held);
  routes.push_back(
      {Method::get, "/drop", Access::open, BodyLimit::none, [](const Request&, Reply&&) {}});
  routes.push_back({Method::get, "/throw", Access::open, BodyLimit::none,
                    [](const Request&, Reply&&) { throw std::runtime_error("oops"); }});
  TestServer server(HttpLimits{}, std::move(routes));
  auto client = server.connect();
  for (const char* path : {"/drop", "/throw"}) {
    const auto response = client.ask(get(path));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 500);
    EXPECT_THAT(response->body, HasSubstr("requestId"));
  }
  ASSERT_TRUE(client.send(get("/held")));
  held.wait(1);
  held.take();
  EXPECT_EQ(client.receive()->status, 500);
  EXPECT_THAT(server.log_text(), HasSubstr(R"("event":"http.handler_failed")"));
}

TEST(HttpReply, a_reply_to_a_client_that_left_is_dropped) {
  Held held;
  TestServer server(HttpLimits{}, with_held(held));
  {
    auto client = server.connect();
    ASSERT_TRUE(client.send(get("/held")));
    held.wait(1);
  }
  auto late = held.take().second;
  EXPECT_EQ(server.connect().ask(get("/live"))->status, 200);
  late({.status = 200});
  EXPECT_EQ(server.connect().ask(get("/live"))->status, 200);
}

TEST(HttpReply, a_reply_after_the_server_is_gone_is_dropped) {
  Held held;
  HttpLimits limits;
  limits.shutdown_timeout = Millis{20};
  TestServer server(limits, with_held(held));
  auto client = server.connect();
  ASSERT_TRUE(client.send(get("/held")));
  held.wait(1);
  server->stop();
  EXPECT_FALSE(client.receive());
  auto [asked, late] = held.take();
  server.destroy();
  late({.status = 200});
}

TEST(HttpServer, stop_lets_requests_in_flight_finish) {
  Held held;
  TestServer server(HttpLimits{}, with_held(held));
  auto busy = server.connect();
  auto idle = server.connect();
  EXPECT_EQ(idle.ask(get("/live"))->status, 200);
  ASSERT_TRUE(busy.send(get("/held") + get("/live")));
  held.wait(1);
  auto stopped = std::async(std::launch::async, [&] { server->stop(); });
  EXPECT_TRUE(idle.is_closed());
  held.take().second({.status = 200, .body = "done"});
  const auto response = busy.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "done");
  EXPECT_EQ(response->header("connection"), "close");
  busy.close();
  stopped.get();
  server->stop();
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(server->port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_NE(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  ::close(fd);
}

TEST(HttpServer, spreads_connections_evenly) {
  std::mutex mutex;
  std::vector<std::thread::id> seen;
  auto routes = test_routes();
  routes.push_back(
      {Method::get, "/thread", Access::open, BodyLimit::none, [&](const Request&, Reply&& reply) {
         const std::lock_guard lock(mutex);
         seen.push_back(std::this_thread::get_id());
         reply({.status = 200});
       }});
  TestServer server(HttpLimits{}, std::move(routes));
  std::vector<TestClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(server.connect());
    EXPECT_EQ(clients.back().ask(get("/thread"))->status, 200);
  }
  const std::lock_guard lock(mutex);
  EXPECT_EQ(std::ranges::count(seen, seen.front()), 5);
}

}  // namespace
}  // namespace penstock::front
