// Who reads slowly, splits, floods, leaves in the middle.
#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "front/resp/testing/server.h"

namespace penstock::front {
namespace {

class RespServerFlow : public RespServerTest {};

// Each says which one it is, so that a reply out of order is seen.
std::string call(int number) { return fmt::format("ECHO {:01000d}\r\n", number); }
std::string reply(int number) { return fmt::format("$1000\r\n{:01000d}\r\n", number); }
std::string calls(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += call(i);
  return all;
}
int good_replies(const RespClient& client, int count) {
  const std::size_t size = reply(0).size();
  int good = 0;
  for (int i = 0; i < count; ++i) good += client.read(size) == reply(i) ? 1 : 0;
  return good;
}

TEST_F(RespServerFlow, joins_commands_that_are_split_at_every_byte) {
  const RespClient client(start());
  const std::string text = "*2\r\n$4\r\nECHO\r\n$4\r\na\r\nb\r\nPING\r\necho \"x y\"\r\n";
  const std::string answer = "$4\r\na\r\nb\r\n+PONG\r\n$3\r\nx y\r\n";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    client.send(std::string_view(text).substr(0, cut));
    client.send(std::string_view(text).substr(cut));
    EXPECT_EQ(client.read(answer.size()), answer) << cut;
  }
  for (const char& byte : text) client.send({&byte, 1});
  EXPECT_EQ(client.read(answer.size()), answer);
}

TEST_F(RespServerFlow, answers_ten_thousand_in_order) {
  const RespClient client(start());
  std::string all;
  for (int i = 0; i < 10'000; ++i) all += "CL.THROTTLE many 9999 1 1000\r\n";
  std::thread writer([&] { client.send(all + "QUIT\r\n"); });
  const std::string replies = client.read(10'000'000);  // to the end
  writer.join();
  std::size_t at = 0;
  for (int i = 9'999; i >= 0; --i) {
    const std::string start = fmt::format("*5\r\n:0\r\n:10000\r\n:{}\r\n:-1\r\n", i);
    ASSERT_EQ(replies.substr(at, start.size()), start);
    at = replies.find('*', at + 1);
  }
  EXPECT_TRUE(replies.ends_with("+OK\r\n"));
}

TEST_F(RespServerFlow, stops_reading_from_who_does_not_read_and_goes_on_when_it_does) {
  // More than one connection may hold; a loop that read on would pass it.
  const RespClient client(start_with_memory(std::size_t{8} << 20));
  constexpr int kCalls = 24'000;  // 24 MB, more than the sockets hold
  const std::string all = calls(kCalls);
  const std::size_t sent = client.send_until_stuck(all, Millis{200});
  EXPECT_LT(sent, all.size());
  EXPECT_TRUE(has_metric("penstock_resp_connections_dropped_total 0"));
  std::thread writer([&] { client.send(std::string_view(all).substr(sent)); });
  EXPECT_EQ(good_replies(client, kCalls), kCalls);
  writer.join();
}

TEST_F(RespServerFlow, hangs_up_when_the_memory_for_replies_is_used_up) {
  const std::uint16_t port = start_with_memory(20'000);
  const std::string all = calls(24'000);
  // What is left of a reply may be little, but not for all of them.
  std::vector<std::unique_ptr<RespClient>> greedy;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) greedy.push_back(std::make_unique<RespClient>(port));
  for (const auto& client : greedy) {
    threads.emplace_back([&] { client->send_until_stuck(all, Millis{300}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(has_metric("penstock_resp_connections_dropped_total 0"));
  const RespClient other(port);
  other.send("PING\r\n");
  EXPECT_EQ(other.read(kPong.size()), kPong);
}

TEST_F(RespServerFlow, answers_who_has_said_all_it_had_to_say) {
  const std::uint16_t port = start();
  for (int i = 0; i < 100; ++i) {
    const RespClient brief(port);
    brief.send("PING\r\n");
    brief.say_no_more();
    EXPECT_EQ(brief.read(100), kPong);
  }
  // At some of these sizes the last word comes while the server waits for the reader.
  for (int count = 1'000; count <= 8'000; count += 1'000) {
    const RespClient much(port);
    const std::string all = calls(count);
    const std::size_t sent = much.send_until_stuck(all, Millis{50});
    std::thread writer([&] {
      much.send(std::string_view(all).substr(sent));
      much.say_no_more();
    });
    if (sent == all.size()) writer.join();
    EXPECT_EQ(good_replies(much, count), count);
    EXPECT_TRUE(much.is_at_end());
    if (writer.joinable()) writer.join();
  }
}

TEST_F(RespServerFlow, outlives_clients_that_leave_while_they_are_answered) {
  const std::uint16_t port = start();
  const std::string all = calls(500);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 100; ++round) {
        const RespClient client(port);
        client.send_until_stuck(all, Millis{20});
        if (i % 2 == 0) client.read(2'000);
      }  // unread replies make this a reset
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(comes_to_metric("penstock_resp_connections 0"));
  const RespClient client(port);
  client.send("PING\r\n");
  EXPECT_EQ(client.read(kPong.size()), kPong);
}

TEST_F(RespServerFlow, keeps_connections_apart_when_many_come_and_go) {
  const std::uint16_t port = start();
  for (int round = 0; round < 5; ++round) {
    std::vector<std::unique_ptr<RespClient>> clients;
    for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<RespClient>(port));
    for (int i = 0; i < 200; ++i) clients[i]->send(call(i) + (i % 3 == 0 ? "QUIT\r\n" : ""));
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(clients[i]->read(reply(i).size()), reply(i));
      if (i % 2 == 0) clients[i].reset();
    }
  }
  EXPECT_TRUE(comes_to_metric("penstock_resp_connections 0"));
}

TEST_F(RespServerFlow, serves_many_full_pipelines_on_one_thread) {
  RespOptions one = options();
  one.threads = 1;
  const std::uint16_t port = start(one);
  constexpr int kCalls = 300;  // 300 KB each
  const std::string all = calls(kCalls);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const RespClient client(port);
      std::thread writer([&] { client.send(all); });
      EXPECT_EQ(good_replies(client, kCalls), kCalls);
      writer.join();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RespServerFlow, stops_in_time_when_a_client_does_not_read) {
  const std::uint16_t port = start({.shutdown_timeout = Millis{300}});
  const RespClient stuck(port);
  stuck.send_until_stuck(calls(24'000), Millis{100});
  const RespClient idle(port);
  idle.send("PING\r\n");
  EXPECT_EQ(idle.read(kPong.size()), kPong);
  server_->stop();
  EXPECT_TRUE(idle.is_at_end());
  EXPECT_TRUE(has_metric("penstock_resp_connections 0"));
}

TEST_F(RespServerFlow, answers_what_has_arrived_of_many_before_it_stops) {
  const std::uint16_t port = start();
  std::vector<std::unique_ptr<RespClient>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<RespClient>(port));
    clients.back()->send(call(0));
    EXPECT_EQ(clients.back()->read(reply(0).size()), reply(0));
  }
  for (const auto& client : clients) client->send(calls(20));  // on loopback it has arrived by then
  server_->stop();
  for (const auto& client : clients) {
    EXPECT_EQ(good_replies(*client, 20), 20);
    EXPECT_TRUE(client->is_at_end());
  }
}

}  // namespace
}  // namespace penstock::front
