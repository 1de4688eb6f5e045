// For tests: a server on a free port of loopback whose every connection follows a script, blocking,
// on a thread of its own. Every wait is bounded, so a test that would hang fails instead.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace penstock::sink {

struct TestRequest {
  std::string head;  // with the empty line
  std::string body;

  // By its exact name; empty when absent.
  std::string header(std::string_view name) const {
    const std::string start = "\r\n" + std::string(name) + ": ";
    const std::size_t at = head.find(start);
    if (at == head.npos) return {};
    return head.substr(at + start.size(), head.find("\r\n", at + 2) - at - start.size());
  }
};

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Listens on a free port.
class Listener {
 public:
  explicit Listener(int backlog) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, backlog), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(fd_); }

  int fd() const { return fd_; }
  std::uint16_t port() const { return port_; }

 private:
  const int fd_;
  std::uint16_t port_ = 0;
};

// One connection, seen from the server.
class Peer {
 public:
  Peer(int fd, SSL_CTX* tls) : fd_(fd), ssl_(nullptr, SSL_free) {
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (tls == nullptr) return;
    ssl_.reset(SSL_new(tls));
    SSL_set_fd(ssl_.get(), fd_);
    greeted_ = SSL_accept(ssl_.get()) == 1;
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { ::close(fd_); }

  bool greeted() const { return greeted_; }

  // The next request; nullopt when the client ended.
  std::optional<TestRequest> receive() {
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos) {
      if (!fill()) return std::nullopt;
    }
    TestRequest request{.head = buffer_.substr(0, end + 4), .body = {}};
    buffer_.erase(0, end + 4);
    const std::size_t size = std::stoul("0" + request.header("Content-Length"));
    while (buffer_.size() < size) {
      if (!fill()) return std::nullopt;
    }
    request.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return request;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Answers the next request; false when the client ended.
  bool answer(std::string_view bytes) { return receive() && send(bytes); }

  // Waits until the client has sent something, reading nothing.
  void wait_for_bytes() const {
    char byte;
    ::recv(fd_, &byte, 1, MSG_PEEK);
  }
  // Waits until the client closed.
  void wait_for_end() {
    while (fill()) {
    }
  }
  // Ends with a reset, so that what the client sends from now on fails.
  void reset() const {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

 private:
  bool fill() {
    char bytes[16 * 1024];
    const auto got =
        ssl_ ? SSL_read(ssl_.get(), bytes, sizeof bytes) : ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  const int fd_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool greeted_ = true;
  std::string buffer_;
};

class TestServer {
 public:
  // Runs for each connection, which ends when it returns; `number` counts them from 0.
  using Script = std::function<void(Peer&, int number)>;

  explicit TestServer(Script script, SSL_CTX* tls = nullptr)
      : script_(std::move(script)), tls_(tls), acceptor_([this] { accept(); }) {}
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    acceptor_.join();
    for (std::thread& each : peers_) each.join();
  }

  std::uint16_t port() const { return listener_.port(); }
  std::string url(std::string_view path = "/") const {
    return (tls_ != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port()) +
           std::string(path);
  }
  int connections() const { return connections_; }

 private:
  void accept() {
    for (;;) {
      const int fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      peers_.emplace_back([this, fd, number = connections_++] {
        Peer peer(fd, tls_);
        script_(peer, number);
      });
    }
  }

  const Script script_;
  SSL_CTX* const tls_;
  Listener listener_{128};
  std::atomic<int> connections_{0};
  std::vector<std::thread> peers_;  // the acceptor's until it is joined
  std::thread acceptor_;            // last: it uses all of the above
};

// A certificate that signs itself, for one name or address, in a folder that goes with it.
class TestCertificate {
 public:
  explicit TestCertificate(const std::string& subject) {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-sink-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    const std::string command =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test"
        " -addext subjectAltName=" +
        subject + " -keyout " + folder_ + "/key.pem -out " + file() + " 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    context_.reset(SSL_CTX_new(TLS_server_method()));
    EXPECT_EQ(SSL_CTX_use_certificate_chain_file(context_.get(), file().c_str()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_.get(), (folder_ + "/key.pem").c_str(),
                                          SSL_FILETYPE_PEM),
              1);
  }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;
  ~TestCertificate() { std::filesystem::remove_all(folder_); }

  std::string file() const { return folder_ + "/certificate.pem"; }
  SSL_CTX* context() const { return context_.get(); }

 private:
  std::string folder_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
};

inline constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

inline std::string with_status(int status, std::string_view headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Length: 0\r\n" +
         std::string(headers) + "\r\n";
}

// Every request gets the same answer.
inline TestServer::Script always(std::string answer) {
  return [answer = std::move(answer)](Peer& peer, int) {
    while (peer.answer(answer)) {
    }
  };
}

}  // namespace penstock::sink
