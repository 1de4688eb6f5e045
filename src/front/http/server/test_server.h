// For tests: a server on a free port of loopback, and a client that speaks raw bytes to it.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "front/http/server/server.h"
#include "runtime/clocks.h"
#include "runtime/test_eventually.h"

namespace penstock::front {

struct TestResponse {
  int status = 0;
  std::string head;
  std::string body;

  std::string header(std::string_view name) const {
    std::size_t at = head.find("\r\n");
    while (at != head.npos && at + 2 < head.size()) {
      const std::size_t end = head.find("\r\n", at + 2);
      const std::string_view line = std::string_view(head).substr(at + 2, end - at - 2);
      const std::size_t colon = line.find(':');
      if (colon != line.npos && ascii_equal(line.substr(0, colon), name)) {
        return std::string(line.substr(colon + 2));
      }
      at = end;
    }
    return {};
  }
};

// A blocking connection. Every wait is bounded, so a test that would hang fails instead.
class TestClient {
 public:
  explicit TestClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  TestClient(TestClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}
  TestClient& operator=(TestClient&&) = delete;
  ~TestClient() { close(); }

  int fd() const noexcept { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void finish_writing() { ::shutdown(fd_, SHUT_WR); }

  // False: the server closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next answer; nullopt when the connection ends before it does. `head_only`: one without
  // body.
  std::optional<TestResponse> receive(bool head_only = false) {
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos) {
      if (!fill()) return std::nullopt;
    }
    TestResponse response;
    response.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    if (response.head.size() < 12) return std::nullopt;
    response.status = std::atoi(response.head.c_str() + 9);
    const std::string length = response.header("content-length");
    const std::size_t size = head_only || length.empty() ? 0 : std::stoul(length);
    while (buffer_.size() < size) {
      if (!fill()) return std::nullopt;
    }
    response.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return response;
  }

  // Of an answer without end: all there is once it holds `text`; what there was, if it never does.
  std::string receive_until(std::string_view text) {
    std::size_t seen = 0;  // no need to look there again: answers may be many megabytes
    while (buffer_.find(text, seen) == buffer_.npos) {
      seen = buffer_.size() - std::min(buffer_.size(), text.size());
      if (!fill()) break;
    }
    return buffer_;
  }

  // Whether the server ends the connection in good order (not by a reset), with nothing more to
  // read.
  bool is_closed() { return buffer_.empty() && !fill() && last_ == 0; }

  // Whether the server says something, or closes, within that time.
  bool hears_within(Millis time) const {
    pollfd socket{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&socket, 1, static_cast<int>(time.count())) != 0;
  }

  std::optional<TestResponse> ask(std::string_view bytes) {
    if (!send(bytes)) return std::nullopt;
    return receive();
  }

 private:
  bool fill() {
    char bytes[16 * 1024];
    last_ = ::recv(fd_, bytes, sizeof bytes, 0);
    if (last_ <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(last_));
    return true;
  }

  int fd_;
  ssize_t last_ = 0;
  std::string buffer_;
};

inline std::string get(std::string_view target, std::string_view headers = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "\r\n";
}

inline std::string post(std::string_view target, std::string_view body,
                        std::string_view headers = {}) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

// A handler that keeps its replies until the test answers them.
class Held {
 public:
  Handler handler() {
    return [this](const Request& request, Reply&& reply) {
      const std::lock_guard lock(mutex_);
      held_.emplace_back(request.target, std::move(reply));
      came_.notify_all();
    };
  }
  // Waits until `count` are held.
  void wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(
        came_.wait_for(lock, std::chrono::seconds(20), [&] { return held_.size() >= count; }));
  }
  std::pair<std::string, Reply> take() {
    const std::lock_guard lock(mutex_);
    auto first = std::move(held_.front());
    held_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::pair<std::string, Reply>> held_;
};

// Routes every test can use: /live answers "up", /echo and /batch give the body back, /item/{id}
// its parameter, /admin needs the admin token.
inline std::vector<Route> test_routes() {
  const auto echo = [](const Request& request, Reply&& reply) {
    reply({.status = 200, .body = std::string(request.body)});
  };
  const auto live = [](const Request&, Reply&& reply) { reply({.status = 200, .body = "up"}); };
  return {
      {Method::get, "/live", Access::open, BodyLimit::none, live},
      {Method::post, "/echo", Access::api, BodyLimit::single, echo},
      {Method::post, "/batch", Access::api, BodyLimit::batch, echo},
      {Method::get, "/item/{id}", Access::api, BodyLimit::none,
       [](const Request& request, Reply&& reply) {
         reply({.status = 200, .body = request.params.at(0)});
       }},
      {Method::post, "/admin", Access::admin, BodyLimit::single, live},
  };
}

// A server with two threads whose log goes to a file that can be read back.
class TestServer {
 public:
  static constexpr std::size_t kMemory = std::size_t{256} << 20;

  explicit TestServer(const HttpLimits& limits = {}, std::vector<Route> routes = test_routes(),
                      const HttpTokens& tokens = {}, std::size_t memory = kMemory)
      : memory_(memory, metrics_) {
    HttpOptions options;
    options.threads = 2;
    options.limits = limits;
    options.tokens = tokens;
    start(options, std::move(routes));
  }
  TestServer(const HttpOptions& options, std::vector<Route> routes) : memory_(kMemory, metrics_) {
    start(options, std::move(routes));
  }
  ~TestServer() {
    if (server_) server_->stop();
    ::close(log_fd_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  HttpServer& operator*() noexcept { return *server_; }
  HttpServer* operator->() noexcept { return server_.get(); }
  void destroy() { server_.reset(); }
  TestClient connect() { return TestClient(server_->port()); }

  runtime::MemoryBudget& memory() noexcept { return memory_; }
  std::string metrics_text() const { return metrics_.prometheus_text(); }
  // Whether the metrics come to have that text: for what the server does behind the client's back.
  bool waits_for_metric(std::string_view text) const {
    return runtime::eventually([&] { return metrics_text().find(text) != std::string::npos; });
  }
  std::string log_text() const {
    std::string text(1 << 20, '\0');
    const ssize_t size = ::pread(log_fd_, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  void start(const HttpOptions& options, std::vector<Route> routes) {
    auto started =
        HttpServer::start(options, std::move(routes), clock_, log_, metrics_, guesses_, memory_);
    if (!started) {
      ADD_FAILURE() << started.error().what;
      std::abort();
    }
    server_ = std::move(*started);
  }

  runtime::SystemClock clock_;
  int log_fd_ = ::memfd_create("log", MFD_CLOEXEC);
  Log log_{clock_, log_fd_, LogLevel::debug, LogFormat::json};
  runtime::Metrics metrics_;
  Guesses guesses_{log_, metrics_};
  runtime::MemoryBudget memory_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace penstock::front
