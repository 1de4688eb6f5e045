#include "front/http/server/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "front/accepting.h"

namespace penstock::front {
namespace {

using boost::asio::ip::tcp;

// Out of descriptors: the socket stays readable, so trying again at once would spin.
constexpr std::chrono::milliseconds kRetryDelay{100};

// The address without port; IPv4 that came through an IPv6 socket is IPv4.
std::string address_text(const sockaddr_storage& from) {
  namespace ip = boost::asio::ip;
  if (from.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &from, sizeof v4);
    return ip::address_v4(ntohl(v4.sin_addr.s_addr)).to_string();
  }
  sockaddr_in6 v6;
  std::memcpy(&v6, &from, sizeof v6);
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  const ip::address_v6 address(bytes);
  if (!address.is_v4_mapped()) return address.to_string();
  return ip::make_address_v4(ip::v4_mapped, address).to_string();
}

}  // namespace

Listener::Listener(ServerState& state, std::vector<std::unique_ptr<Loop>>& loops)
    : state_(state),
      loops_(loops),
      acceptor_(loops.front()->context()),
      retry_(loops.front()->context()) {}

Result<void> Listener::open(const std::string& address, std::uint16_t port) {
  IoError error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error) {
    return fail(ErrorKind::invalid,
                fmt::format("'{}' is not an IPv4 or IPv6 address to listen on", address));
  }
  const tcp::endpoint endpoint(parsed, port);
  acceptor_.open(endpoint.protocol(), error);
  // Connections of an earlier run that linger in TIME_WAIT do not keep the port.
  if (!error) acceptor_.set_option(TcpAcceptor::reuse_address(true), error);
  if (!error) acceptor_.set_option(tcp::no_delay(true), error);  // accepted sockets inherit it
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  if (error) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot listen on {} port {}: {}", address, port, error.message()));
  }
  return {};
}

void Listener::start() {
  boost::asio::post(acceptor_.get_executor(), [this] { wait(); });
}

void Listener::request_stop() {
  boost::asio::post(acceptor_.get_executor(), [this] {
    IoError ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  });
}

void Listener::wait() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_wait(TcpAcceptor::wait_read, [this](const IoError& error) {
    if (!error) accept_some();
  });
}

void Listener::accept_some() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    if (!accept_one()) return;
  }
  wait();
}

// False: no more for now; what comes next is arranged.
bool Listener::accept_one() {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  const int fd = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&from), &size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait();
      return false;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pause();
      return false;
    }
    return true;  // that connection failed before it was taken: the next one
  }
  warned_ = false;
  AcceptedSocket socket{.fd = fd, .peer_address = address_text(from)};
  if (state_.connections.load(std::memory_order_relaxed) < state_.limits.connections) {
    state_.connections.fetch_add(1, std::memory_order_relaxed);
    warned_full_ = false;
    least_loaded().give(std::move(socket));
    return true;
  }
  state_.metrics.connections_refused.add();
  if (!std::exchange(warned_full_, true)) {
    state_.log.warn("http.connections_full", {{"limit", state_.limits.connections}});
  }
  if (state_.refusals.load(std::memory_order_relaxed) >= state_.limits.refusals) {
    ::close(fd);
    return true;
  }
  state_.refusals.fetch_add(1, std::memory_order_relaxed);
  socket.refuse = true;
  least_loaded().give(std::move(socket));
  return true;
}

void Listener::pause() {
  if (!std::exchange(warned_, true)) {
    state_.log.warn("http.accept_failed", {{"error", std::generic_category().message(errno)}});
  }
  retry_.expires_after(kRetryDelay);
  retry_.async_wait([this](const IoError& error) {
    if (!error) wait();
  });
}

Loop& Listener::least_loaded() noexcept {
  const std::size_t first = turn_++ % loops_.size();
  Loop* best = loops_[first].get();
  for (std::size_t i = 1; i < loops_.size(); ++i) {
    Loop* const other = loops_[(first + i) % loops_.size()].get();
    if (other->load().load(std::memory_order_relaxed) <
        best->load().load(std::memory_order_relaxed)) {
      best = other;
    }
  }
  return *best;
}

}  // namespace penstock::front
