#include "front/resp/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "front/resp/test_limits.h"

namespace penstock::front {
namespace {

class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(fd_); }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // So many bytes, or what came before the end.
  std::string read(std::size_t size) const {
    std::string all(size, '\0');
    std::size_t at = 0;
    while (at < size) {
      const ssize_t got = ::recv(fd_, all.data() + at, size - at, 0);
      if (got <= 0) break;
      at += static_cast<std::size_t>(got);
    }
    all.resize(at);
    return all;
  }
  bool is_at_end() const {
    char byte = 0;
    return ::recv(fd_, &byte, 1, 0) == 0;
  }

 private:
  const int fd_;
};

class RespServerTest : public testing::Test {
 protected:
  ~RespServerTest() override {
    server_.reset();
    ::close(log_fd_);
  }
  std::uint16_t start(RespLimits limits = {}) {
    RespOptions options{.address = "127.0.0.1", .port = 0, .threads = 2, .password = {}};
    options.limits = limits;
    auto server = RespServer::start(options, limits_, log_, metrics_);
    EXPECT_TRUE(server) << server.error().what;
    server_ = std::move(*server);
    return server_->port();
  }

  CoreLimits limits_;
  int log_fd_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log_{limits_.clock, log_fd_, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  std::unique_ptr<RespServer> server_;
};

constexpr std::string_view kPong = "+PONG\r\n";

TEST_F(RespServerTest, answers_many_clients_at_once) {
  const std::uint16_t port = start();
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([port] {
      for (int round = 0; round < 20; ++round) {
        const Client client(port);
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
  const Client first(port);
  first.send("PING\r\n");
  EXPECT_EQ(first.read(kPong.size()), kPong);
  const Client second(port);
  EXPECT_EQ(second.read(100), "-ERR max number of clients reached\r\n");
  first.send("PING\r\n");
  EXPECT_EQ(first.read(kPong.size()), kPong);
}

TEST_F(RespServerTest, lets_the_client_read_why_it_hangs_up) {
  const Client client(start());
  client.send("*1\r\n$99999999999\r\n" + std::string(200'000, 'x'));
  EXPECT_EQ(client.read(1'000), "-ERR Protocol error: invalid bulk length\r\n");
}

TEST_F(RespServerTest, waits_for_a_reader_and_loses_nothing) {
  const Client client(start());
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
  const Client client(start({.write_timeout = Millis{300}}));
  std::string calls;
  for (int i = 0; i < 20'000; ++i) calls += "INFO\r\n";
  client.send(calls);  // fits the sockets; its replies of 6 MB do not
  const auto dropped = [this] {
    return metrics_.prometheus_text().find("penstock_resp_connections_dropped_total 1\n") !=
           std::string::npos;
  };
  for (int i = 0; i < 2'000 && !dropped(); ++i) std::this_thread::sleep_for(Millis{5});
  EXPECT_TRUE(dropped());
}

TEST_F(RespServerTest, hangs_up_on_who_says_nothing_when_told_to) {
  const Client client(start({.idle_timeout = Millis{200}}));
  client.send("PI");
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(RespServerTest, answers_what_has_arrived_before_it_stops) {
  const std::uint16_t port = start();
  const Client idle(port);
  idle.send("PING\r\n");
  EXPECT_EQ(idle.read(kPong.size()), kPong);
  const Client busy(port);
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
  const auto second = RespServer::start({.address = "127.0.0.1", .port = port, .password = {}},
                                        limits_, log_, metrics);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("in use"), std::string::npos);
}

}  // namespace
}  // namespace penstock::front
