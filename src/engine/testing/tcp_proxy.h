// A TCP proxy between a store and its server that misbehaves on demand. For tests only.
// Thread-safe.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace penstock::store {

class TcpProxy {
 public:
  enum class Mode {
    pass,    // as if it were not there
    silent,  // takes everything, hands on nothing: a half-open connection
    refuse,  // closes new connections at once, and cuts those it has
  };

  explicit TcpProxy(int server_port) : server_port_(server_port), listener_(listen_on_any(port_)) {
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TcpProxy() {
    stopping_ = true;
    acceptor_.join();
    for (std::thread& thread : relays_) thread.join();
    ::close(listener_);
  }

  int port() const { return port_; }
  int accepted() const { return accepted_; }
  int open() const { return open_; }  // connections being handed on
  void set(Mode mode) { mode_ = mode; }
  // Holds back everything for this long, in either direction.
  void delay(std::chrono::milliseconds each) { delay_ = each; }
  // Cuts the connection that next sends a message holding `text`, after handing that message on.
  void lose_answer_to(std::string_view text) {
    const std::lock_guard lock(mutex_);
    trigger_ = text;
  }

 private:
  static int listen_on_any(int& port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener, 64);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    return listener;
  }

  void accept_all() {
    while (!stopping_) {
      pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      ++accepted_;
      if (mode_ == Mode::refuse) {
        ::close(client);
      } else {
        ++open_;
        relays_.emplace_back([this, client] {
          relay(client);
          --open_;
        });
      }
    }
  }

  bool wants_cut(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    if (trigger_.empty() || bytes.find(trigger_) == std::string_view::npos) return false;
    trigger_.clear();
    return true;
  }

  void relay(int client) {
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(server_port_));
    if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
      std::array<char, 65'536> buffer;
      bool open = true;
      while (open && !stopping_ && mode_ != Mode::refuse) {
        std::array<pollfd, 2> ends{pollfd{.fd = client, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = server, .events = POLLIN, .revents = 0}};
        if (::poll(ends.data(), ends.size(), 20) <= 0) continue;
        open = move(ends[0], server, buffer, true) && move(ends[1], client, buffer, false);
      }
    }
    ::close(client);
    ::close(server);
  }

  bool move(const pollfd& from, int to, std::array<char, 65'536>& buffer, bool request) {
    if (from.revents == 0) return true;
    const ssize_t count = ::read(from.fd, buffer.data(), buffer.size());
    if (count <= 0) return false;
    if (mode_ == Mode::silent) return true;
    std::this_thread::sleep_for(delay_.load());
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    const bool cut = request && wants_cut(bytes);
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t wrote = ::send(to, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (wrote <= 0) return false;
      sent += static_cast<std::size_t>(wrote);
    }
    return !cut;
  }

  const int server_port_;
  int port_ = 0;
  int listener_;
  std::atomic<Mode> mode_{Mode::pass};
  std::atomic<std::chrono::milliseconds> delay_{std::chrono::milliseconds{0}};
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> open_{0};
  std::mutex mutex_;
  std::string trigger_;              // guarded by mutex_
  std::vector<std::thread> relays_;  // of the acceptor, then of the destructor
  std::thread acceptor_;
};

}  // namespace penstock::store
