// For tests of the RESP server over real sockets: a client, and the server with each kind of loop.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "front/resp/server.h"
#include "front/resp/testing/limits.h"

namespace penstock::front {

inline constexpr std::string_view kPong = "+PONG\r\n";

class RespClient {
 public:
  explicit RespClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    set_patience(SO_RCVTIMEO, Seconds{20});
    set_patience(SO_SNDTIMEO, Seconds{20});
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  RespClient(const RespClient&) = delete;
  RespClient& operator=(const RespClient&) = delete;
  ~RespClient() { ::close(fd_); }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // How much of it went before the server stopped reading for this long.
  std::size_t send_until_stuck(std::string_view bytes, Millis patience) const {
    set_patience(SO_SNDTIMEO, patience);
    std::size_t all = 0;
    while (all < bytes.size()) {
      const ssize_t sent = ::send(fd_, bytes.data() + all, bytes.size() - all, MSG_NOSIGNAL);
      if (sent <= 0) break;
      all += static_cast<std::size_t>(sent);
    }
    set_patience(SO_SNDTIMEO, Seconds{20});
    return all;
  }
  void say_no_more() const { ::shutdown(fd_, SHUT_WR); }
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
  void set_patience(int which, Millis patience) const {
    const timeval time{.tv_sec = patience / Seconds{1},
                       .tv_usec = Micros(patience % Seconds{1}).count()};
    ::setsockopt(fd_, SOL_SOCKET, which, &time, sizeof time);
  }

  const int fd_;
};

class RespServerTest : public testing::Test {
 protected:
  ~RespServerTest() override {
    server_.reset();
    ::close(log_fd_);
  }
  static RespOptions options(RespLimits limits = {}) {
    RespOptions options{.address = "127.0.0.1", .port = 0, .threads = 2, .password = {}};
    options.limits = limits;
    return options;
  }
  std::uint16_t start(RespLimits limits = {}) { return start(options(limits)); }
  std::uint16_t start_with_memory(std::size_t bytes) {
    memory_.emplace(bytes, metrics_);
    return start();
  }
  std::uint16_t start(const RespOptions& options) {
    if (!memory_) memory_.emplace(std::size_t{256} << 20, metrics_);
    auto server = RespServer::start(options, *throttle_, log_, metrics_, guesses_, *memory_);
    EXPECT_TRUE(server) << server.error().what;
    server_ = std::move(*server);
    return server_->port();
  }
  bool has_metric(std::string_view line) const {
    return metrics_.prometheus_text().find(std::string(line) + "\n") != std::string::npos;
  }
  bool comes_to_metric(std::string_view line) const {
    for (int i = 0; i < 2'000 && !has_metric(line); ++i) std::this_thread::sleep_for(Millis{5});
    return has_metric(line);
  }

  CoreLimits limits_;
  int log_fd_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log_{limits_.clock, log_fd_, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  CoreThrottle throttle_{limits_, log_, metrics_};
  Guesses guesses_{log_, metrics_};
  std::optional<runtime::MemoryBudget> memory_;  // made by start() at the latest
  std::unique_ptr<RespServer> server_;
};

}  // namespace penstock::front
