#include "engine/redis/stream.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace penstock::store::redis {
namespace {

std::string text_of(int code) { return std::error_code(code, std::system_category()).message(); }

// False: the deadline passed first.
bool wait_for(int fd, short events, const runtime::Deadline& deadline) {
  for (;;) {
    pollfd waiting{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(deadline.remaining().count()));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) {
      if (deadline.passed()) return false;
    }
  }
}

// A peer that vanished without a word is noticed after a minute, if nobody asked it before.
void set_options(int fd) {
  const int on = 1;
  const int idle_seconds = 30;
  const int interval_seconds = 10;
  const int probes = 3;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

struct Lookup {
  std::vector<Address> addresses;
  std::string problem;
};

Lookup look_up(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Lookup lookup;
  const std::string port = std::to_string(endpoint.port);
  const int failed = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    lookup.problem = ::gai_strerror(failed);
    return lookup;
  }
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address{.size = at->ai_addrlen};
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    lookup.addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return lookup;
}

struct Pending {
  std::mutex mutex;
  std::condition_variable ready;
  bool done = false;  // guarded by mutex
  Lookup lookup;      // guarded by mutex
};

// From a host's name to its addresses; empty: none was found, or none in time, and `problem` says
// which. The system's resolver knows no deadline, so a name is looked up on a thread of its own
// that a caller who has waited long enough leaves alone.
std::vector<Address> resolve(const Endpoint& endpoint, const runtime::Deadline& deadline,
                             std::string& problem) {
  Lookup numeric = look_up(endpoint, AI_NUMERICHOST);
  if (!numeric.addresses.empty()) return std::move(numeric.addresses);
  const auto pending = std::make_shared<Pending>();
  try {
    std::thread([pending, endpoint] {
      Lookup lookup = look_up(endpoint, 0);
      const std::lock_guard lock(pending->mutex);
      pending->lookup = std::move(lookup);
      pending->done = true;
      pending->ready.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    problem = "no thread to look its name up";
    return {};
  }
  std::unique_lock lock(pending->mutex);
  if (!pending->ready.wait_for(lock, deadline.remaining(), [&] { return pending->done; })) {
    problem = "its name was not found before the deadline";
    return {};
  }
  problem = std::move(pending->lookup.problem);
  return std::move(pending->lookup.addresses);
}

}  // namespace

Stream::~Stream() {
  if (fd_ >= 0) ::close(fd_);
}

ClientResult<std::unique_ptr<Stream>> Stream::connect(const Endpoint& endpoint,
                                                      const TlsContext* tls,
                                                      const runtime::Deadline& deadline) {
  std::unique_ptr<Stream> stream(new Stream(endpoint));
  std::string problem;
  for (const Address& address : resolve(endpoint, deadline, problem)) {
    const auto* const raw = reinterpret_cast<const sockaddr*>(&address.storage);
    if (stream->open_socket(raw, address.size, deadline, problem)) break;
  }
  if (stream->fd_ < 0) return cannot_reach(endpoint, problem);
  set_options(stream->fd_);
  if (tls != nullptr) {
    PENSTOCK_TRY(stream->start_tls(*tls, deadline));
  }
  return stream;
}

bool Stream::open_socket(const sockaddr* address, socklen_t size, const runtime::Deadline& deadline,
                         std::string& problem) {
  const int fd = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    problem = text_of(errno);
    return false;
  }
  int failed = ::connect(fd, address, size) == 0 ? 0 : errno;
  if (failed == EINPROGRESS) {
    socklen_t length = sizeof failed;
    if (!wait_for(fd, POLLOUT, deadline)) {
      failed = ETIMEDOUT;
    } else if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length) != 0) {
      failed = errno;
    }
  }
  if (failed != 0) {
    problem = text_of(failed);
    ::close(fd);
    return false;
  }
  fd_ = fd;
  return true;
}

ClientResult<void> Stream::start_tls(const TlsContext& tls, const runtime::Deadline& deadline) {
  auto session = std::make_unique<TlsSession>(tls, endpoint_.host);
  std::string received;
  for (;;) {
    const TlsSession::Step step = session->handshake();
    ClientResult<void> moved = send_raw(session->take_output(), deadline);
    if (step == TlsSession::Step::failed) return cannot_reach(endpoint_, session->problem());
    if (moved && step == TlsSession::Step::done) break;
    received.clear();
    if (moved) moved = receive_raw(received, deadline);
    if (!moved) return cannot_reach(endpoint_, "the TLS handshake did not end");
    session->put(received);
  }
  tls_ = std::move(session);
  return {};
}

ClientResult<void> Stream::send(std::string_view bytes, const runtime::Deadline& deadline) {
  if (tls_ == nullptr) return send_raw(bytes, deadline);
  if (!tls_->encrypt(bytes)) return connection_lost(endpoint_, tls_->problem());
  return send_raw(tls_->take_output(), deadline);
}

ClientResult<void> Stream::send_raw(std::string_view bytes, const runtime::Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait_for(fd_, POLLOUT, deadline)) return no_answer(endpoint_);
    } else if (sent < 0 && errno != EINTR) {
      return connection_lost(endpoint_, text_of(errno));
    }
  }
  return {};
}

ClientResult<void> Stream::receive(std::string& buffer, const runtime::Deadline& deadline) {
  if (tls_ == nullptr) return receive_raw(buffer, deadline);
  std::string received;
  for (;;) {
    const TlsSession::Step step = tls_->decrypt(buffer);
    if (step == TlsSession::Step::done) return {};
    if (step == TlsSession::Step::failed) return connection_lost(endpoint_, tls_->problem());
    // A renewed key may have to be answered.
    ClientResult<void> moved = send_raw(tls_->take_output(), deadline);
    received.clear();
    if (moved) moved = receive_raw(received, deadline);
    if (!moved) return moved;
    tls_->put(received);
  }
}

ClientResult<void> Stream::receive_raw(std::string& buffer, const runtime::Deadline& deadline) {
  std::array<char, 64 * 1024> chunk;
  for (;;) {
    const ssize_t count = ::recv(fd_, chunk.data(), chunk.size(), 0);
    if (count > 0) {
      buffer.append(chunk.data(), static_cast<std::size_t>(count));
      return {};
    }
    if (count == 0) return connection_lost(endpoint_, "closed by the server");
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(fd_, POLLIN, deadline)) return no_answer(endpoint_);
    } else if (errno != EINTR) {
      return connection_lost(endpoint_, text_of(errno));
    }
  }
}

bool Stream::still_open() const noexcept {
  pollfd now{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&now, 1, 0) == 0) return true;
  // TLS 1.3 sends session tickets unasked.
  return tls_ != nullptr && (now.revents & (POLLHUP | POLLERR)) == 0;
}

}  // namespace penstock::store::redis
