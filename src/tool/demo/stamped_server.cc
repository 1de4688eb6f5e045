#include "tool/demo/stamped_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "wire/http/errors.h"

namespace penstock::tool {
namespace {

constexpr wire::HeadLimits kHeadLimits;
constexpr std::size_t kBodyBytesMax = 2 * 1024 * 1024;  // an item's context and more
constexpr std::size_t kConnectionsMax = 10'000;         // beyond it a connection is closed
constexpr std::size_t kUnsentBytesMax = 1024 * 1024;    // a client that reads nothing is not served
constexpr int kEventsMax = 256;                         // taken from the kernel at once
constexpr int kTickMillis = 100;
constexpr int kBacklog = 4'096;  // as many as the kernel lets wait by default

std::string system_problem() { return std::generic_category().message(errno); }

// The moment that the kernel got the last of what was read.
std::optional<Instant> stamp_of(msghdr& message) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec at{};
    std::memcpy(&at, CMSG_DATA(part), sizeof at);
    return Instant{Seconds{at.tv_sec} + Micros{at.tv_nsec / 1'000}};
  }
  return std::nullopt;
}

Result<int> open_listener(const wire::ListenAddress& listen) {
  sockaddr_storage address{};
  socklen_t size = 0;
  if (auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
      ::inet_pton(AF_INET, listen.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(listen.port);
    size = sizeof *v4;
  } else if (auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
             ::inet_pton(AF_INET6, listen.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(listen.port);
    size = sizeof *v6;
  }
  const int fd = ::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  // Accepted sockets inherit the options, so that even the first bytes are stamped.
  if (fd < 0 || ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      ::setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0 ||
      ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, kBacklog) != 0) {
    const std::string why = system_problem();
    if (fd >= 0) ::close(fd);
    return fail(ErrorKind::unavailable,
                fmt::format("cannot listen on {}: {}", wire::format_listen(listen), why));
  }
  return fd;
}

}  // namespace

struct StampedServer::Connection {
  Connection(int socket, std::uint64_t number) : fd(socket), id(number), reader(kHeadLimits) {}
  ~Connection() { ::close(fd); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const int fd;
  const std::uint64_t id;
  wire::RequestReader reader;
  Instant received;  // of the last bytes
  std::string unsent;
  bool delayed = false;  // `unsent` waits for its time; nothing is read meanwhile
  bool ending = false;   // closes once all is sent
  std::uint32_t watched = EPOLLIN;
};

Result<std::unique_ptr<StampedServer>> StampedServer::open(const wire::ListenAddress& listen,
                                                           Millis latency, const Clock& clock,
                                                           Handle handle) {
  const int listener = PENSTOCK_TRY(open_listener(listen));
  std::unique_ptr<StampedServer> server(
      new StampedServer(listener, latency, clock, std::move(handle)));
  if (server->epoll_ < 0) {
    return fail(ErrorKind::unavailable, "cannot make an event loop: " + system_problem());
  }
  epoll_event event{.events = EPOLLIN, .data = {.u64 = 0}};
  PENSTOCK_CHECK(::epoll_ctl(server->epoll_, EPOLL_CTL_ADD, listener, &event) == 0);
  return server;
}

StampedServer::StampedServer(int listener, Millis latency, const Clock& clock, Handle handle)
    : listener_(listener),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      latency_(latency),
      clock_(clock),
      handle_(std::move(handle)) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
  port_ =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

StampedServer::~StampedServer() {
  connections_.clear();
  ::close(listener_);
  if (epoll_ >= 0) ::close(epoll_);
}

void StampedServer::run(const std::function<bool()>& stopped,
                        const std::function<void()>& on_tick) {
  std::array<epoll_event, kEventsMax> events;
  double ticked = -1;
  while (!stopped()) {
    const int count = ::epoll_wait(epoll_, events.data(), kEventsMax, wait_millis());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == 0) {
        accept_some();
      } else if (const auto found = connections_.find(event.data.u64);
                 found != connections_.end()) {
        on_ready(*found->second, event.events);
      }
    }
    send_delayed();
    if (const double now = since_start_.seconds(); now - ticked > kTickMillis / 1e3) {
      ticked = now;
      on_tick();
    }
  }
}

int StampedServer::wait_millis() const noexcept {
  if (delayed_.empty()) return kTickMillis;
  const double left = (delayed_.top().due - since_start_.seconds()) * 1e3;
  return static_cast<int>(std::clamp(left + 0.999, 0.0, double{kTickMillis}));
}

void StampedServer::accept_some() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;  // none left; out of descriptors: the next turn tries again
    if (connections_.size() >= kConnectionsMax) {
      ::close(fd);
      continue;
    }
    const std::uint64_t id = next_id_++;
    connections_.emplace(id, std::make_unique<Connection>(fd, id));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
    PENSTOCK_CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
  }
}

void StampedServer::on_ready(Connection& connection, std::uint32_t events) {
  bool alive = (events & (EPOLLERR | EPOLLHUP)) == 0;
  if (alive && (events & EPOLLOUT) != 0) alive = send(connection);
  if (alive && (events & EPOLLIN) != 0) alive = receive(connection);
  if (!alive) return close(connection);
  watch(connection);
}

bool StampedServer::receive(Connection& connection) {
  std::array<char, 64 * 1024> bytes;
  alignas(cmsghdr) std::array<char, 256> control;
  iovec into{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(connection.fd, &message, 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  if (size == 0) return false;
  connection.received = stamp_of(message).value_or(clock_.now());
  connection.reader.feed(std::span(bytes).first(static_cast<std::size_t>(size)));
  const bool alive = serve(connection);
  if (alive) connection.reader.park();
  return alive && send(connection);
}

bool StampedServer::serve(Connection& connection) {
  wire::Request request;
  wire::Framing framing;
  while (!connection.delayed && !connection.ending) {
    switch (connection.reader.next(request, framing)) {
      case wire::RequestReader::Step::need_more:
        return true;
      case wire::RequestReader::Step::head:
        if (const auto refusal = connection.reader.accept(kBodyBytesMax)) {
          wire::append_response(
              connection.unsent,
              wire::error_response(refusal->status, refusal->message, "-", clock_.now()),
              {.date_line = date_.at(clock_.now()), .request_id = "-", .keep_alive = false});
          connection.ending = true;
        } else if (framing.expects_continue && !connection.reader.has_unread()) {
          connection.unsent += wire::kContinue;
        }
        break;
      case wire::RequestReader::Step::request:
        if (!answer(connection, request, framing.keep_alive)) return false;
        connection.reader.finish();
        break;
      case wire::RequestReader::Step::refused: {
        const wire::Refusal& refusal = connection.reader.refusal();
        wire::append_response(
            connection.unsent,
            wire::error_response(refusal.status, refusal.message, "-", clock_.now()),
            {.date_line = date_.at(clock_.now()), .request_id = "-", .keep_alive = false});
        connection.ending = true;
        break;
      }
    }
  }
  return true;
}

bool StampedServer::answer(Connection& connection, const wire::Request& request, bool keep_alive) {
  const std::optional<wire::Response> response = handle_(request, connection.received);
  if (!response) return false;
  wire::append_response(connection.unsent, *response,
                        {.date_line = date_.at(clock_.now()),
                         .request_id = "-",
                         .keep_alive = keep_alive,
                         .head_only = request.method == wire::Method::head});
  connection.ending = !keep_alive;
  if (latency_ > Millis{0} && request.method == wire::Method::post) {
    connection.delayed = true;
    delayed_.push({.due = since_start_.seconds() + static_cast<double>(latency_.count()) / 1e3,
                   .connection = connection.id});
  }
  return true;
}

bool StampedServer::send(Connection& connection) {
  if (connection.delayed) return true;
  while (!connection.unsent.empty()) {
    const ssize_t sent =
        ::send(connection.fd, connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN && connection.unsent.size() <= kUnsentBytesMax;
    connection.unsent.erase(0, static_cast<std::size_t>(sent));
  }
  return !connection.ending;
}

void StampedServer::send_delayed() {
  while (!delayed_.empty() && delayed_.top().due <= since_start_.seconds()) {
    const auto found = connections_.find(delayed_.top().connection);
    delayed_.pop();
    if (found == connections_.end()) continue;  // the client did not wait
    Connection& connection = *found->second;
    connection.delayed = false;
    // What was sent behind the request waits in the reader.
    if (!send(connection) || !serve(connection)) {
      close(connection);
      continue;
    }
    connection.reader.park();
    watch(connection);
  }
}

void StampedServer::watch(Connection& connection) {
  std::uint32_t wanted = 0;
  if (!connection.delayed) wanted = connection.unsent.empty() ? EPOLLIN : EPOLLOUT;
  if (wanted == connection.watched) return;
  connection.watched = wanted;
  epoll_event event{.events = wanted, .data = {.u64 = connection.id}};
  PENSTOCK_CHECK(::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event) == 0);
}

void StampedServer::close(Connection& connection) { connections_.erase(connection.id); }

}  // namespace penstock::tool
