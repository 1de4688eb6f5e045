// The server over real sockets: requests, answers, connections, tokens, logs.
#include "front/http/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

#include "front/http/server/test_server.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HttpServer, answers_a_request) {
  TestServer server;
  auto client = server.connect();
  const auto response = client.ask(get("/live"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "up");
  EXPECT_EQ(response->header("content-type"), "application/json");
  EXPECT_THAT(response->header("date"), testing::EndsWith(" GMT"));
  EXPECT_EQ(response->header("x-request-id").size(), 13U);
}

TEST(HttpServer, keeps_the_connection) {
  TestServer server;
  auto client = server.connect();
  for (int i = 0; i < 100; ++i) {
    const auto response = client.ask(get("/item/" + std::to_string(i)));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, std::to_string(i));
  }
}

TEST(HttpServer, answers_pipelined_requests_in_order) {
  TestServer server;
  auto client = server.connect();
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    bytes += i % 3 == 0 ? post("/echo", std::to_string(i)) : get("/item/" + std::to_string(i));
  }
  ASSERT_TRUE(client.send(bytes));
  for (int i = 0; i < 500; ++i) {
    const auto response = client.receive();
    ASSERT_TRUE(response) << i;
    ASSERT_EQ(response->body, std::to_string(i));
  }
}

TEST(HttpServer, one_pipeline_does_not_hold_up_the_others) {
  // The first of a pipeline is held until another client has asked on the same thread: it may not
  // have to wait for the whole pipeline.
  std::promise<void> begun;
  std::promise<void> all_sent;
  const std::shared_future<void> go = all_sent.get_future().share();
  int handled = 0;  // the server's one thread's
  auto routes = test_routes();
  routes.push_back(
      {Method::get, "/held", Access::open, BodyLimit::none, [&](const Request&, Reply&& reply) {
         if (handled++ == 0) begun.set_value();
         go.wait();
         reply({.status = 200});
       }});
  routes.push_back(
      {Method::get, "/handled", Access::open, BodyLimit::none, [&](const Request&, Reply&& reply) {
         reply({.status = 200, .body = std::to_string(handled)});
       }});
  HttpOptions options;
  options.threads = 1;
  TestServer server(options, std::move(routes));
  auto hog = server.connect();
  auto other = server.connect();
  EXPECT_EQ(other.ask(get("/live"))->status, 200);
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += get("/held");
  EXPECT_TRUE(hog.send(bytes));
  EXPECT_EQ(begun.get_future().wait_for(Seconds{20}), std::future_status::ready);
  EXPECT_TRUE(other.send(get("/handled")));
  all_sent.set_value();
  EXPECT_LT(std::stoi(other.receive()->body), 1'000);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(hog.receive()->status, 200);
}

TEST(HttpServer, reads_bodies_that_come_in_pieces) {
  TestServer server;
  auto client = server.connect();
  const std::string body(300'000, 'x');
  const std::string bytes = post("/echo", body);
  for (std::size_t at = 0; at < bytes.size(); at += 7'001) {
    ASSERT_TRUE(client.send(std::string_view(bytes).substr(at, 7'001)));
  }
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, body);
  const auto chunked = client.ask(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->body, "hello");
}

TEST(HttpServer, writes_answers_larger_than_the_socket_takes) {
  TestServer server;
  auto client = server.connect();
  const std::string body(8'000'000, 'y');
  std::thread sender([&] { EXPECT_TRUE(client.send(post("/batch", body) + get("/live"))); });
  const auto response = client.receive();
  sender.join();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, body);
  const auto next = client.receive();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->body, "up");
}

TEST(HttpServer, head_is_get_without_the_body) {
  TestServer server;
  auto client = server.connect();
  ASSERT_TRUE(client.send("HEAD /live HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const auto response = client.receive(/*head_only=*/true);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->header("content-length"), "2");
  EXPECT_EQ(client.ask(get("/live"))->body, "up");
}

TEST(HttpServer, errors_are_json_with_the_request_id) {
  TestServer server;
  auto client = server.connect();
  const auto response = client.ask(get("/nowhere", "X-Request-Id: my id\r\n"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->header("content-type"), "application/json");
  EXPECT_EQ(response->header("x-request-id"), "my id");
  EXPECT_THAT(response->body, HasSubstr(R"({"status":404,"error":"Not Found","message":")"));
  EXPECT_THAT(response->body, HasSubstr(R"("timestamp":")"));
  EXPECT_THAT(response->body, HasSubstr(R"("requestId":"my id")"));
  // The connection goes on after such an answer.
  EXPECT_EQ(client.ask(get("/live"))->status, 200);
}

TEST(HttpServer, replaces_request_ids_that_could_do_harm) {
  TestServer server;
  auto client = server.connect();
  for (const std::string& id : {std::string(65, 'a'), std::string("\xff"), std::string("")}) {
    EXPECT_EQ(
        client.ask(get("/live", "X-Request-Id: " + id + "\r\n"))->header("x-request-id").size(),
        13U);
  }
}

TEST(HttpServer, wrong_method_names_the_right_ones) {
  TestServer server;
  auto client = server.connect();
  const auto response = client.ask(post("/live", "body"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 405);
  EXPECT_EQ(response->header("allow"), "GET, HEAD");
  for (const char* method : {"TRACE", "OPTIONS", "BREW"}) {
    const auto other =
        client.ask(std::string(method) + " /live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(other) << method;
    EXPECT_EQ(other->status, 405) << method;
  }
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")->status, 400);
  EXPECT_EQ(server.connect().ask("CONNECT h:443 HTTP/1.1\r\nHost: localhost\r\n\r\n")->status, 400);
}

TEST(HttpServer, closes_when_asked) {
  TestServer server;
  for (const std::string& bytes :
       {get("/live", "Connection: close\r\n"), std::string("GET /live HTTP/1.0\r\n\r\n")}) {
    auto client = server.connect();
    const auto response = client.ask(bytes);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->header("connection"), "close");
    EXPECT_TRUE(client.is_closed());
  }
  auto client = server.connect();
  const auto response = client.ask("GET /live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("connection"), "keep-alive");
  EXPECT_EQ(client.ask(get("/live"))->status, 200);
}

TEST(HttpServer, answers_a_client_that_has_finished_writing) {
  TestServer server;
  auto client = server.connect();
  ASSERT_TRUE(client.send(get("/live") + get("/item/2")));
  client.finish_writing();
  EXPECT_EQ(client.receive()->body, "up");
  EXPECT_EQ(client.receive()->body, "2");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, takes_absolute_targets) {
  TestServer server;
  EXPECT_EQ(server.connect().ask(get("http://example.org/item/a%2Fb?x"))->body, "a/b");
}

TEST(HttpServer, drops_small_bodies_that_nobody_asked_for) {
  TestServer server;
  auto client = server.connect();
  ASSERT_TRUE(
      client.send("GET /live HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 2\r\n\r\n{}" +
                  post("/nowhere", "GET /item/x HTTP/1.1\r\n\r\n") + get("/item/next")));
  EXPECT_EQ(client.receive()->body, "up");
  EXPECT_EQ(client.receive()->status, 404);
  EXPECT_EQ(client.receive()->body, "next");
}

TEST(HttpServer, malformed_requests_get_400_and_the_end) {
  TestServer server;
  for (const std::string_view bytes :
       {"GARBAGE\r\n\r\n", "GET /live HTTP/1.1\r\n\r\n", "\x16\x03\x01",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\nGET /live HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /item/%4 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"}) {
    auto client = server.connect();
    const auto response = client.ask(bytes);
    ASSERT_TRUE(response) << bytes;
    EXPECT_EQ(response->status, 400) << bytes;
    EXPECT_EQ(response->header("connection"), "close");
    EXPECT_THAT(response->body, HasSubstr(R"("error":"Bad Request")"));
    EXPECT_THAT(response->body, HasSubstr("requestId"));
    EXPECT_TRUE(client.is_closed()) << bytes;
  }
}

TEST(HttpServer, nods_to_clients_that_wait_before_sending_a_body) {
  TestServer server;
  auto client = server.connect();
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: "
      "100-continue\r\nContent-Length: 5\r\n\r\n";
  EXPECT_EQ(client.ask(head)->status, 100);
  EXPECT_EQ(client.ask("hello")->body, "hello");
  // Who has sent the body already needs no nod.
  EXPECT_EQ(client.ask(head + "again")->body, "again");
}

TEST(HttpServer, answers_at_once_when_an_expected_body_is_not_wanted) {
  TestServer server(HttpLimits{}, test_routes(), {.admin = "secret"});
  const auto answer = [&](std::string_view path, std::size_t length) {
    auto client = server.connect();
    const auto response = client.ask("POST " + std::string(path) +
                                     " HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                     "application/json\r\nExpect: 100-continue\r\n" +
                                     "Content-Length: " + std::to_string(length) + "\r\n\r\n");
    EXPECT_TRUE(response);
    client.finish_writing();
    EXPECT_TRUE(client.is_closed());
    return response ? response->status : 0;
  };
  EXPECT_EQ(answer("/echo", 2'000'000), 413);
  EXPECT_EQ(answer("/admin", 5), 401);
  EXPECT_EQ(answer("/nowhere", 5), 404);
}

TEST(HttpServer, asks_for_tokens_before_reading_the_body) {
  TestServer server(HttpLimits{}, test_routes(), {.admin = "top", .api = "low"});
  auto client = server.connect();
  const auto response = client.ask(post("/admin", "x", "Authorization: Bearer low\r\n"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 401);
  EXPECT_EQ(response->header("www-authenticate"), "Bearer");
  EXPECT_EQ(client.ask(post("/admin", "x", "Authorization: Bearer top\r\n"))->status, 200);
  EXPECT_EQ(client.ask(get("/item/1"))->status, 401);
  EXPECT_EQ(client.ask(get("/item/1", "Authorization: Bearer low\r\n"))->status, 200);
  EXPECT_EQ(client.ask(get("/live"))->status, 200);
  auto hasty = server.connect();
  EXPECT_EQ(hasty
                .ask("POST /admin HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                     "application/json\r\nContent-Length: 900000\r\n\r\n")
                ->status,
            401);
}

TEST(HttpServer, counts_what_it_does) {
  TestServer server;
  auto client = server.connect();
  client.ask(get("/live"));
  client.ask(get("/nowhere"));
  client.ask(post("/echo", "x"));
  const std::string text = server.metrics_text();
  EXPECT_THAT(text, HasSubstr("penstock_http_connections 1\n"));
  EXPECT_THAT(text, HasSubstr(R"(penstock_http_requests_total{method="GET",status="200"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(penstock_http_requests_total{method="GET",status="404"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(penstock_http_requests_total{method="POST",status="200"} 1)"));
  EXPECT_THAT(text, HasSubstr("penstock_http_request_duration_seconds_count 3\n"));
  client.send(get("/live", "Connection: close\r\n"));
  client.receive();
  EXPECT_TRUE(client.is_closed());
  server->stop();
  EXPECT_THAT(server.metrics_text(), HasSubstr("penstock_http_connections 0\n"));
}

TEST(HttpServer, logs_requests_without_secrets) {
  TestServer server(HttpLimits{}, test_routes(), {.admin = "top-secret"});
  auto client = server.connect();
  client.ask(post("/admin", "private-body",
                  "Authorization: Bearer top-secret\r\nX-Request-Id: req-7\r\n"));
  client.ask(get("/item/1?token=in-the-query", "Authorization: Bearer guess\r\n"));
  const std::string log = server.log_text();
  EXPECT_THAT(log, HasSubstr(R"("event":"http.request")"));
  EXPECT_THAT(log, HasSubstr(R"("request_id":"req-7")"));
  EXPECT_THAT(log, HasSubstr(R"("route":"/admin")"));
  for (const char* secret : {"top-secret", "guess", "private-body", "in-the-query"}) {
    EXPECT_THAT(log, Not(HasSubstr(secret)));
  }
}

TEST(HttpServerStart, says_what_is_wrong) {
  const auto problem = [](HttpOptions options) {
    runtime::SystemClock clock;
    Log log(clock, 2, LogLevel::off, LogFormat::text);
    runtime::Metrics metrics;
    Guesses guesses(log, metrics);
    runtime::MemoryBudget memory(std::size_t{1} << 20, metrics);
    const auto started =
        HttpServer::start(options, test_routes(), clock, log, metrics, guesses, memory);
    return started ? std::string("started") : started.error().what;
  };
  TestServer taken;
  EXPECT_THAT(problem({.port = taken->port()}), HasSubstr("Address already in use"));
  EXPECT_THAT(problem({.address = "nowhere"}),
              HasSubstr("'nowhere' is not an IPv4 or IPv6 address"));
  EXPECT_THAT(problem({.tls_certificate_file = "c"}), HasSubstr("both"));
  EXPECT_THAT(problem({.tokens = {.admin = std::string(600, 'x')}}), HasSubstr("512"));
}

TEST(HttpServerStart, listens_on_ipv6_too) {
  HttpOptions options;
  options.address = "::1";
  TestServer server(options, {{Method::get, "/who", Access::open, BodyLimit::none,
                               [](const Request& request, Reply&& reply) {
                                 reply({.status = 200, .body = std::string(request.peer_address)});
                               }}});
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(server->port());
  to.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  const std::string bytes = get("/who", "Connection: close\r\n");
  ASSERT_EQ(::send(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  std::string all;
  char buffer[1'000];
  for (ssize_t n; (n = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) all.append(buffer, n);
  ::close(fd);
  EXPECT_TRUE(all.ends_with("\r\n\r\n::1")) << all;
}

}  // namespace
}  // namespace penstock::front
