// The server's limits, each with its own small number so that nothing is waited for long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "front/http/server/server.h"
#include "front/http/server/test_server.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;

HttpLimits quick() {
  HttpLimits limits;
  limits.header_timeout = Millis{100};
  limits.idle_timeout = Seconds{20};
  limits.body_grace = Millis{100};
  limits.drain_timeout = Seconds{10};
  return limits;
}

TEST(HttpLimits, long_request_line_is_414) {
  HttpLimits limits;
  limits.request_line_bytes = 200;
  TestServer server(limits);
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/item/" + std::string(150, 'a')))->status, 200);
  EXPECT_EQ(client.ask(get("/item/" + std::string(200, 'a')))->status, 414);
  client.finish_writing();
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpLimits, large_header_is_431) {
  HttpLimits limits;
  limits.header_bytes = 1'000;
  TestServer server(limits);
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/live", "A: " + std::string(900, 'a') + "\r\n"))->status, 200);
  EXPECT_EQ(client.ask(get("/live", "A: " + std::string(1'000, 'a') + "\r\n"))->status, 431);
  client.finish_writing();
  EXPECT_TRUE(client.is_closed());
}

// A client that sends everything before it reads still gets the answer.
TEST(HttpLimits, huge_header_is_drained_so_that_431_can_be_read) {
  TestServer server;
  auto client = server.connect();
  ASSERT_TRUE(client.send(get("/live", "A: " + std::string(4'000'000, 'a') + "\r\n")));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 431);
  client.finish_writing();
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpLimits, declared_body_is_refused_before_it_is_read) {
  HttpLimits limits;
  limits.body_bytes = 1'000;
  limits.batch_body_bytes = 5'000;
  TestServer server(limits);
  auto client = server.connect();
  EXPECT_EQ(client.ask(post("/echo", std::string(1'000, 'x')))->status, 200);
  EXPECT_EQ(client.ask(post("/echo", std::string(1'001, 'x')))->status, 413);
  EXPECT_EQ(client.ask(post("/batch", std::string(5'000, 'x')))->status, 200);
  EXPECT_EQ(client.ask(post("/batch", std::string(5'001, 'x')))->status, 413);
  auto announced = server.connect();
  const auto response = announced.ask(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "99999999999\r\n\r\n");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  EXPECT_THAT(response->body, HasSubstr(R"("error":"Content Too Large")"));
}

TEST(HttpLimits, large_body_is_drained_so_that_413_can_be_read) {
  TestServer server;
  auto client = server.connect();
  ASSERT_TRUE(client.send(post("/batch", std::string(20'000'000, 'x'))));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  client.finish_writing();
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpLimits, chunked_body_is_refused_when_it_passes) {
  HttpLimits limits;
  limits.body_bytes = 1'000;
  TestServer server(limits);
  auto client = server.connect();
  ASSERT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = "1f4\r\n" + std::string(500, 'x') + "\r\n";
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(client.send(chunk));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
}

TEST(HttpLimits, draining_is_bounded_in_bytes) {
  HttpLimits limits;
  limits.drain_bytes = 100'000;
  TestServer server(limits);
  auto client = server.connect();
  ASSERT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 99999999999\r\n\r\n"));
  const std::string block(64 * 1024, 'x');
  bool open = true;
  for (int i = 0; i < 10'000 && open; ++i) open = client.send(block);
  EXPECT_FALSE(open);
}

TEST(HttpLimits, draining_is_bounded_in_time) {
  HttpLimits limits;
  limits.drain_timeout = Millis{50};
  TestServer server(limits);
  auto client = server.connect();
  EXPECT_EQ(client
                .ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                     "application/json\r\nContent-Length: 99999999999\r\n\r\n")
                ->status,
            413);
  // Though this end stays open.
  EXPECT_TRUE(server.waits_for_metric("penstock_http_connections 0\n"));
}

TEST(HttpLimits, slow_header_is_408) {
  TestServer server(quick());
  auto client = server.connect();
  const auto response = client.ask("GET /live HTTP/1.1\r\nHost: localhost\r\n");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
  EXPECT_THAT(response->body, HasSubstr(R"("error":"Request Timeout")"));
  client.finish_writing();
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpLimits, trickled_header_is_408_all_the_same) {
  TestServer server(quick());
  auto client = server.connect();
  ASSERT_TRUE(client.send("GET /live HTTP/1.1\r\n"));
  while (!client.hears_within(Millis{10}) && client.send("X: y\r\n")) {
  }
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
}

TEST(HttpLimits, header_time_starts_with_each_request) {
  HttpLimits limits = quick();
  limits.header_timeout = Millis{1'000};
  TestServer server(limits);
  auto client = server.connect();
  // Each request takes a good part of the limit, together they take more than one.
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(client.send("GET /live HTTP/1.1\r\n"));
    ASSERT_FALSE(client.hears_within(Millis{300}));
    ASSERT_EQ(client.ask("Host: localhost\r\n\r\n")->status, 200);
  }
}

TEST(HttpLimits, slow_body_is_408) {
  TestServer server(quick());
  auto client = server.connect();
  const auto response = client.ask(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "100\r\n\r\nstart");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
  EXPECT_THAT(response->body, HasSubstr("too slowly"));
}

TEST(HttpLimits, trickled_body_is_408_all_the_same) {
  TestServer server(quick());  // 1,024 bytes a second, and about 100 come
  auto client = server.connect();
  ASSERT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 1000\r\n\r\n"));
  while (!client.hears_within(Millis{10}) && client.send("x")) {
  }
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
}

TEST(HttpLimits, body_that_stops_is_408_however_fast_it_began) {
  HttpLimits limits = quick();
  limits.body_bytes_per_second = 1;  // else the first bytes would have bought hours
  TestServer server(limits);
  auto client = server.connect();
  const auto response = client.ask(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "10000\r\n\r\n" +
      std::string(8'000, 'x'));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
}

TEST(HttpLimits, body_that_keeps_the_rate_may_take_its_time) {
  HttpLimits limits = quick();
  limits.body_grace = Millis{1'000};
  limits.body_bytes_per_second = 100;
  TestServer server(limits);
  auto client = server.connect();
  ASSERT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 1500\r\n\r\n"));
  // Half as long again as the grace, at ten times the rate.
  for (int i = 0; i < 15; ++i) {
    ASSERT_FALSE(client.hears_within(Millis{100}));
    ASSERT_TRUE(client.send(std::string(100, 'x')));
  }
  EXPECT_EQ(client.receive()->status, 200);
}

TEST(HttpLimits, idle_connections_are_just_closed) {
  HttpLimits limits;
  limits.idle_timeout = Millis{100};
  TestServer server(limits);
  auto silent = server.connect();
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/live"))->status, 200);
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(silent.is_closed());
}

TEST(HttpLimits, a_client_that_does_not_read_is_closed) {
  HttpLimits limits;
  limits.idle_timeout = Millis{200};
  TestServer server(limits);
  auto client = server.connect();
  const std::string request = post("/batch", std::string(15'000'000, 'x'));
  client.send(request);
  client.send(request);  // the first answer does not fit the socket, so this one is not read
  client.finish_writing();
  // The server gives up; what was sent before can be read, then the connection ends.
  EXPECT_TRUE(server.waits_for_metric("penstock_http_connections 0\n"));
  EXPECT_FALSE(client.receive());
}

TEST(HttpLimits, one_connection_too_many_is_told_503) {
  HttpLimits limits;
  limits.connections = 2;
  TestServer server(limits);
  auto one = server.connect();
  auto two = server.connect();
  EXPECT_EQ(one.ask(get("/live"))->status, 200);
  EXPECT_EQ(two.ask(get("/live"))->status, 200);
  auto three = server.connect();
  const auto response = three.ask(get("/live"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->header("retry-after"), "1");
  three.finish_writing();
  EXPECT_TRUE(three.is_closed());
  EXPECT_EQ(one.ask(get("/live"))->status, 200);
  EXPECT_THAT(server.metrics_text(), HasSubstr("penstock_http_connections_refused_total 1\n"));
  EXPECT_THAT(server.log_text(), HasSubstr("http.connections_full"));
  // Room again once one has left.
  EXPECT_EQ(one.ask(get("/live", "Connection: close\r\n"))->status, 200);
  EXPECT_TRUE(one.is_closed());
  EXPECT_EQ(server.connect().ask(get("/live"))->status, 200);
}

TEST(HttpLimits, unfinished_requests_share_one_store_of_memory) {
  HttpLimits limits;
  limits.batch_body_bytes = 500'000;
  limits.item_body_bytes = 100'000;
  TestServer server(limits, test_routes(), {}, 4'000'000);
  const std::string head =
      "POST /batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nContent-Length: 500000\r\n\r\n";
  std::vector<TestClient> clients;
  std::vector<pollfd> sockets;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(server.connect());
    sockets.push_back({.fd = clients.back().fd(), .events = POLLIN, .revents = 0});
    ASSERT_TRUE(clients.back().send(head + std::string(400'000, 'x')));
  }
  // Whichever of them passed the store's end is refused; the others still wait.
  ASSERT_GT(::poll(sockets.data(), sockets.size(), 20'000), 0);
  std::optional<TestResponse> refused;
  for (std::size_t i = 0; i < clients.size() && !refused; ++i) {
    if (sockets[i].revents != 0) refused = clients[i].receive();
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->header("retry-after"), "1");
  EXPECT_EQ(server.connect().ask(get("/live"))->status, 200);
  clients.clear();
  EXPECT_TRUE(server.waits_for_metric("penstock_http_connections 0\n"));
  EXPECT_EQ(server.connect().ask(post("/batch", std::string(400'000, 'x')))->status, 200);
}

}  // namespace
}  // namespace penstock::front
