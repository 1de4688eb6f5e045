// What requests and answers draw on the memory budget, and when they give it back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <string>
#include <vector>

#include "front/http/server/server.h"
#include "front/http/server/test_server.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;

constexpr std::size_t kBudget = std::size_t{16} << 20;
const std::string kMebibyte(std::size_t{1} << 20, 'x');

class HttpMemory : public testing::Test {
 protected:
  static std::vector<Route> routes(Held& held) {
    std::vector<Route> routes = test_routes();
    routes.push_back({Method::post, "/held", Access::api, BodyLimit::batch, held.handler()});
    routes.push_back({Method::post, "/starved", Access::api, BodyLimit::single,
                      [](const Request&, Reply&&) { throw std::bad_alloc(); }});
    return routes;
  }
  bool comes_to(std::size_t bytes) {
    return runtime::eventually([&] { return server_.memory().used() == bytes; });
  }

  Held held_;
  TestServer server_{HttpLimits{}, routes(held_), {}, kBudget};
};

TEST_F(HttpMemory, a_request_without_room_is_503_and_small_ones_are_served) {
  auto all = server_.memory().try_take(server_.memory().available());
  ASSERT_TRUE(all);
  auto client = server_.connect();
  const auto refused = client.ask(post("/batch", kMebibyte));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->header("retry-after"), "1");
  EXPECT_THAT(refused->body, HasSubstr("memory"));
  auto other = server_.connect();
  EXPECT_EQ(other.ask(post("/batch", "small"))->status, 200);
  EXPECT_EQ(other.ask(post("/echo", std::string(10'000, 'x')))->status, 200);
  EXPECT_EQ(other.ask(get("/live"))->status, 200);
  all.reset();
  EXPECT_EQ(other.ask(post("/batch", kMebibyte))->status, 200);
  EXPECT_TRUE(comes_to(0));
}

TEST_F(HttpMemory, a_body_that_finds_no_room_on_its_way_is_503) {
  auto client = server_.connect();
  ASSERT_TRUE(client.send(post("/batch", kMebibyte).substr(0, 500'000)));
  ASSERT_TRUE(runtime::eventually([&] { return server_.memory().used() > 1'000'000; }));
  const auto rest = server_.memory().try_take(server_.memory().available());
  ASSERT_TRUE(client.send(kMebibyte.substr(0, 200'000)));
  const auto refused = client.receive();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_TRUE(comes_to(rest->bytes()));
}

TEST_F(HttpMemory, a_chunked_body_is_charged_as_it_grows) {
  auto client = server_.connect();
  ASSERT_TRUE(
      client.send("POST /batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = "10000\r\n" + std::string(65'536, 'x') + "\r\n";
  for (int i = 0; i < 120 && client.send(chunk); ++i) {  // 7.5 MiB, decoded more than 16
  }
  const auto refused = client.receive();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_TRUE(comes_to(0));
}

TEST_F(HttpMemory, a_request_is_charged_until_its_answer) {
  auto client = server_.connect();
  ASSERT_TRUE(client.send(post("/held", kMebibyte)));
  held_.wait(1);
  EXPECT_GE(server_.memory().used(), 3 * kMebibyte.size());
  held_.take().second({.status = 200, .body = "done"});
  EXPECT_EQ(client.receive()->status, 200);
  EXPECT_TRUE(comes_to(0));
}

TEST_F(HttpMemory, a_client_that_hangs_up_keeps_its_charge_until_the_work_ends) {
  std::optional<TestClient> client = server_.connect();
  ASSERT_TRUE(client->send(post("/held", kMebibyte)));
  held_.wait(1);
  const std::size_t used = server_.memory().used();
  EXPECT_GE(used, 3 * kMebibyte.size());
  client.reset();
  // The server has met the end of another client meanwhile, on each of its threads.
  for (int i = 0; i < 8; ++i) EXPECT_EQ(server_.connect().ask(get("/live"))->status, 200);
  ASSERT_TRUE(server_.waits_for_metric("penstock_http_connections 1\n"));
  EXPECT_EQ(server_.memory().used(), used);
  held_.take().second({.status = 200, .body = "done"});
  EXPECT_TRUE(comes_to(0));
  EXPECT_TRUE(server_.waits_for_metric("penstock_http_connections 0\n"));
}

TEST_F(HttpMemory, entries_of_a_batch_count_however_short_they_are) {
  auto client = server_.connect();
  std::string body = "[{}";
  for (int i = 1; i < 5'000; ++i) body += ",{}";
  ASSERT_TRUE(client.send(post("/held", body + "]")));
  held_.wait(1);
  EXPECT_GE(server_.memory().used(), 5'000U * 256);
  held_.take().second({.status = 200, .body = "done"});
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(HttpMemory, an_answer_that_nobody_reads_is_charged) {
  auto client = server_.connect();
  ASSERT_TRUE(client.send(post("/held", "{}")));
  held_.wait(1);
  EXPECT_EQ(server_.memory().used(), 0U);
  held_.take().second({.status = 200, .body = std::string(std::size_t{12} << 20, 'a')});
  ASSERT_TRUE(runtime::eventually([&] { return server_.memory().used() > 0; }));
  // There is no room for another one.
  auto second = server_.connect();
  ASSERT_TRUE(second.send(post("/held", "{}")));
  held_.wait(1);
  held_.take().second({.status = 200, .body = std::string(std::size_t{12} << 20, 'a')});
  EXPECT_FALSE(second.receive());
  EXPECT_EQ(client.receive()->body.size(), std::size_t{12} << 20);
  EXPECT_TRUE(comes_to(0));
}

TEST_F(HttpMemory, what_is_pipelined_behind_work_without_room_is_dropped) {
  auto client = server_.connect();
  auto all = server_.memory().try_take(server_.memory().available());
  std::vector<runtime::Charge> small;
  while (auto one = server_.memory().try_take(runtime::MemoryBudget::kSmallBytes)) {
    small.push_back(std::move(*one));
  }
  std::string behind = get("/live");
  behind.append(20'000, ' ');  // the start of a request that never comes
  ASSERT_TRUE(client.send(post("/held", "{}") + behind));
  held_.wait(1);
  held_.take().second({.status = 200, .body = "done"});
  const auto answer = client.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "done");
  EXPECT_EQ(answer->header("connection"), "close");
}

TEST_F(HttpMemory, a_handler_without_memory_is_503) {
  auto client = server_.connect();
  const auto answer = client.ask(post("/starved", "{}"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->header("retry-after"), "1");
  EXPECT_THAT(server_.log_text(), HasSubstr("http.out_of_memory"));
  EXPECT_EQ(client.ask(get("/live"))->status, 200);
}

}  // namespace
}  // namespace penstock::front
