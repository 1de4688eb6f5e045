#include "front/resp/server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "front/accepting.h"
#include "front/resp/loop.h"
#include "front/resp/state.h"

namespace penstock::front {
namespace {

constexpr std::string_view kTooMany = "-ERR max number of clients reached\r\n";

struct FreeAddress {
  void operator()(addrinfo* info) const noexcept { ::freeaddrinfo(info); }
};

Result<int> open_listener(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return fail(ErrorKind::invalid,
                fmt::format("'{}' is not an IPv4 or IPv6 address to listen on", address));
  }
  const std::unique_ptr<addrinfo, FreeAddress> info(found);
  const int fd = ::socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  // Connections of an earlier run that linger in TIME_WAIT do not keep the port; accepted sockets
  // inherit TCP_NODELAY.
  if (fd < 0 || ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) != 0 ||
      ::bind(fd, info->ai_addr, info->ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
    const std::string why = std::generic_category().message(errno);
    if (fd >= 0) ::close(fd);
    return fail(ErrorKind::unavailable,
                fmt::format("cannot listen on {} port {}: {}", address, port, why));
  }
  return fd;
}

std::uint16_t port_of(int fd) noexcept {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  // The port stands at the same place for both families.
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// At least two: where a shared engine decides, one collects calls while the other waits.
std::size_t usual_threads() { return std::max(2U, std::thread::hardware_concurrency()); }

class LoopServer final : public RespServer {
 public:
  LoopServer(const RespOptions& options, service::ThrottleService& throttle, Log& log,
             runtime::Metrics& metrics, Guesses& guesses, runtime::MemoryBudget& memory)
      : state_(options, throttle, log, metrics, guesses, memory) {
    const std::size_t threads = options.threads == 0 ? usual_threads() : options.threads;
    for (std::size_t i = 0; i < threads; ++i) {
      loops_.push_back(std::make_unique<RespLoop>(state_, i));
    }
  }
  ~LoopServer() override { stop(); }

  Result<void> open(const RespOptions& options) {
    for (const auto& loop : loops_) PENSTOCK_TRY(loop->open());
    const int fd = PENSTOCK_TRY(open_listener(options.address, options.port));
    port_ = port_of(fd);
    loops_.front()->listen(fd, [this](int accepted) { take(accepted); });
    for (const auto& loop : loops_) threads_.emplace_back([&loop] { loop->run(); });
    state_.log.info("resp.listening", {{"port", port_}, {"threads", loops_.size()}});
    return {};
  }

  std::uint16_t port() const noexcept override { return port_; }

  void renew(std::string password) override {
    state_.password.publish(std::make_shared<const std::string>(std::move(password)));
  }

  void stop() override {
    const std::lock_guard lock(stopping_);
    for (const auto& loop : loops_) loop->request_stop(state_.limits.shutdown_timeout);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  // On the first loop's thread.
  void take(int fd) {
    if (state_.connections.load(std::memory_order_relaxed) >= state_.limits.connections) {
      state_.metrics.refused.add();
      if (!std::exchange(warned_full_, true)) {
        state_.log.warn("resp.connections_full", {{"limit", state_.limits.connections}});
      }
      [[maybe_unused]] const ssize_t ignored =
          ::send(fd, kTooMany.data(), kTooMany.size(), MSG_NOSIGNAL);
      ::close(fd);
      return;
    }
    warned_full_ = false;
    state_.connections.fetch_add(1, std::memory_order_relaxed);
    const std::size_t first = turn_++;  // breaks ties
    RespLoop* best = loops_[first % loops_.size()].get();
    for (std::size_t i = 1; i < loops_.size(); ++i) {
      RespLoop* const other = loops_[(first + i) % loops_.size()].get();
      if (other->load() < best->load()) best = other;
    }
    best->give(fd);
  }

  RespState state_;
  std::vector<std::unique_ptr<RespLoop>> loops_;
  std::uint16_t port_ = 0;
  std::size_t turn_ = 0;      // the first loop's
  bool warned_full_ = false;  // the first loop's: that connections are refused
  std::mutex stopping_;
  std::vector<std::thread> threads_;  // guarded by stopping_
};

}  // namespace

Result<std::unique_ptr<RespServer>> RespServer::start(const RespOptions& options,
                                                      service::ThrottleService& throttle, Log& log,
                                                      runtime::Metrics& metrics, Guesses& guesses,
                                                      runtime::MemoryBudget& memory) {
  auto server = std::make_unique<LoopServer>(options, throttle, log, metrics, guesses, memory);
  PENSTOCK_TRY(server->open(options));
  return server;
}

}  // namespace penstock::front
