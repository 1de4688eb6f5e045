#include "front/resp/server.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "front/resp/testing/server.h"

namespace penstock::front {
namespace {

TEST_F(RespServerTest, answers_many_clients_at_once) {
  const std::uint16_t port = start();
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([port] {
      for (int round = 0; round < 20; ++round) {
        const RespClient client(port);
        std::string calls;
        for (int call = 0; call < 100; ++call) calls += "CL.THROTTLE k 999999 1 1\r\nPING\r\n";
        client.send(calls + "QUIT\r\n");
        const std::string reply = client.read(100'000);  // to the end
        EXPECT_TRUE(reply.starts_with("*5\r\n:0\r\n:1000000\r\n"));
        EXPECT_TRUE(reply.ends_with("+PONG\r\n+OK\r\n"));
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

TEST_F(RespServerTest, tells_one_too_many) {
  const std::uint16_t port = start({.connections = 1});
  const RespClient first(port);
  first.send("PING\r\n");
  EXPECT_EQ(first.read(kPong.size()), kPong);
  const RespClient second(port);
  EXPECT_EQ(second.read(100), "-ERR max number of clients reached\r\n");
  first.send("PING\r\n");
  EXPECT_EQ(first.read(kPong.size()), kPong);
}

TEST_F(RespServerTest, lets_the_client_read_why_it_hangs_up) {
  const RespClient client(start());
  client.send("*1\r\n$99999999999\r\n" + std::string(200'000, 'x'));
  EXPECT_EQ(client.read(1'000), "-ERR Protocol error: invalid bulk length\r\n");
}

TEST_F(RespServerTest, waits_for_a_reader_and_loses_nothing) {
  const RespClient client(start());
  const std::string call = "ECHO " + std::string(1'000, 'x') + "\r\n";
  const std::string reply = "$1000\r\n" + std::string(1'000, 'x') + "\r\n";
  constexpr std::size_t kCalls = 20'000;  // 20 MB, more than the sockets hold
  std::thread writer([&] {
    for (std::size_t i = 0; i < kCalls; ++i) client.send(call);
  });
  std::size_t good = 0;
  for (std::size_t i = 0; i < kCalls; ++i) good += client.read(reply.size()) == reply ? 1 : 0;
  writer.join();
  EXPECT_EQ(good, kCalls);
}

TEST_F(RespServerTest, hangs_up_on_who_never_reads) {
  const RespClient client(start({.write_timeout = Millis{300}}));
  std::string calls;
  for (int i = 0; i < 20'000; ++i) calls += "INFO\r\n";
  client.send(calls);  // fits the sockets; its replies of 6 MB do not
  EXPECT_TRUE(comes_to_metric("penstock_resp_connections_dropped_total 1"));
}

TEST_F(RespServerTest, counts_what_transactions_hold) {
  const std::uint16_t port = start_with_memory(300'000);
  const std::string call = "ECHO " + std::string(50'000, 'x') + "\r\n";
  const std::string queued = "+QUEUED\r\n";
  const RespClient first(port);
  first.send("MULTI\r\n" + call + call);
  EXPECT_EQ(first.read(5 + 2 * queued.size()), "+OK\r\n" + queued + queued);
  const RespClient second(port);
  second.send("MULTI\r\n");
  for (int i = 0; i < 6; ++i) second.send(call);
  EXPECT_TRUE(comes_to_metric("penstock_resp_connections_dropped_total 1"));
  first.send("DISCARD\r\n");
  EXPECT_EQ(first.read(5), "+OK\r\n");
  const RespClient third(port);
  third.send("MULTI\r\n" + call + call + "EXEC\r\n");
  EXPECT_EQ(third.read(5 + 2 * queued.size() + 4), "+OK\r\n" + queued + queued + "*2\r\n");
}

TEST_F(RespServerTest, hangs_up_on_who_says_nothing_when_told_to) {
  const RespClient client(start({.idle_timeout = Millis{200}}));
  client.send("PI");
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(RespServerTest, answers_what_has_arrived_before_it_stops) {
  const std::uint16_t port = start();
  const RespClient idle(port);
  idle.send("PING\r\n");
  EXPECT_EQ(idle.read(kPong.size()), kPong);
  const RespClient busy(port);
  std::string calls;
  for (int i = 0; i < 1'000; ++i) calls += "PING\r\n";
  busy.send(calls);
  busy.read(kPong.size());  // it is connected by then
  server_->stop();
  EXPECT_EQ(busy.read(999 * kPong.size()).size(), 999 * kPong.size());
  EXPECT_TRUE(busy.is_at_end());
  EXPECT_TRUE(idle.is_at_end());
  server_->stop();
}

TEST_F(RespServerTest, says_when_the_address_is_taken) {
  const std::uint16_t port = start();
  runtime::Metrics metrics;
  Guesses guesses(log_, metrics);
  const auto second = RespServer::start({.address = "127.0.0.1", .port = port, .password = {}},
                                        *throttle_, log_, metrics, guesses, *memory_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("in use"), std::string::npos);
}

}  // namespace
}  // namespace penstock::front
