#include "front/resp/connection.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "front/resp/loop.h"

namespace penstock::front {
namespace {

// After a protocol error the rest of what the client sends is read and dropped, up to here, so that
// it gets to read why.
constexpr std::size_t kDrainBytesMax = 1024 * 1024;
// On a stop, what has arrived is answered, up to 1 MiB: a client that never pauses must not hold it
// up.
constexpr int kLastReadsMax = 16;
// Small buffers are kept for the next time; they are not worth counting either.
constexpr std::size_t kKeptBytesMax = 4 * 1024;

bool would_block() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

wire::IpAddress peer_of(int fd) noexcept {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  wire::IpAddress address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&from), &size) != 0) return address;
  if (from.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
    std::memcpy(address.bytes.data(), &v6.sin6_addr, address.bytes.size());
  } else {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(&address.bytes[12], &v4.sin_addr, sizeof v4.sin_addr);
  }
  return address;
}

void release(std::string& buffer) noexcept {
  if (buffer.capacity() > kKeptBytesMax) {
    std::string().swap(buffer);
  } else {
    buffer.clear();
  }
}

}  // namespace

RespConnection::RespConnection(RespLoop& loop, int fd, std::uint64_t id)
    : loop_(loop),
      fd_(fd),
      session_(loop.state(), id, peer_of(fd)),
      since_(loop.now()),
      charge_(loop.state().memory) {}

RespConnection::~RespConnection() {
  close();
  ::close(fd_);
}

void RespConnection::on_ready() {
  switch (phase_) {
    case Phase::reading:
      receive();
      return;
    case Phase::writing:
      return resume_writing();
    case Phase::lingering:
      return linger();
    case Phase::closed:
      return;
  }
}

// False: there was nothing to read.
bool RespConnection::receive() {
  const ssize_t received = ::recv(fd_, loop_.received.data(), loop_.received.size(), 0);
  if (received < 0 && would_block()) return false;
  if (received <= 0) {
    close();
    return false;
  }
  since_ = loop_.now();
  const std::string_view bytes(loop_.received.data(), static_cast<std::size_t>(received));
  if (held_.empty()) {
    serve(bytes);
  } else {
    held_ += bytes;
    serve(held_);
  }
  return true;
}

// `in` is what was received, or all of held_.
void RespConnection::serve(std::string_view in) {
  for (;;) {
    const RespSession::Turn turn = session_.handle(in, loop_.batch, loop_.out);
    in.remove_prefix(turn.consumed);
    closing_ = closing_ || turn.close;
    const bool goes_on = turn.full && !closing_;
    if (closing_) {
      release(held_);
    } else if (!goes_on) {
      hold(in);
    }
    if (turn.open) return loop_.leave_calls(*this);
    loop_.send_later(*this, turn.from);
    if (!goes_on && !closing_) return;
    loop_.send_all();
    if (closing_) {
      if (phase_ == Phase::reading) end();
      return;
    }
    if (phase_ != Phase::reading) {
      if (phase_ != Phase::closed) hold(in);
      return charge();
    }
  }
}

void RespConnection::finish(std::string_view replies) {
  if (phase_ == Phase::closed) return;
  send(replies);
  charge();
}

void RespConnection::hold(std::string_view rest) {
  if (rest.empty()) return release(held_);
  if (!held_.empty()) {
    held_.erase(0, held_.size() - rest.size());
  } else {
    held_.assign(rest);
  }
}

// Sends what the turn has produced. False: it did not all go; the connection waits, or is closed.
bool RespConnection::send(std::string_view replies) {
  while (!replies.empty()) {
    const ssize_t result = ::send(fd_, replies.data(), replies.size(), MSG_NOSIGNAL);
    if (result > 0) {
      replies.remove_prefix(static_cast<std::size_t>(result));
      continue;
    }
    if (would_block()) {
      unsent_.assign(replies);
      sent_ = 0;
      wait(Phase::writing);
    } else {
      close();
    }
    return false;
  }
  return true;
}

void RespConnection::resume_writing() {
  while (sent_ < unsent_.size()) {
    const ssize_t result =
        ::send(fd_, unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
    if (result <= 0) return would_block() ? void() : close();
    sent_ += static_cast<std::size_t>(result);
    since_ = loop_.now();
  }
  release(unsent_);
  sent_ = 0;
  if (closing_) {
    charge();
    return end();
  }
  wait(Phase::reading);
  serve(held_);
  if (!loop_.stopping()) return;
  loop_.send_all();
  if (phase_ == Phase::reading) close();
}

// All is sent. Closing with unread bytes makes the kernel reset the connection, and the client lose
// our last words.
void RespConnection::end() {
  ::shutdown(fd_, SHUT_WR);
  wait(Phase::lingering);
  linger();
}

void RespConnection::linger() {
  const ssize_t received = ::recv(fd_, loop_.received.data(), loop_.received.size(), 0);
  if (received < 0 && would_block()) return;
  if (received <= 0) return close();
  drop(static_cast<std::size_t>(received));
}

void RespConnection::drop(std::size_t bytes) {
  drained_bytes_ += bytes;
  if (drained_bytes_ > kDrainBytesMax) close();
}

void RespConnection::on_tick(Micros now) {
  const RespLimits& limits = loop_.state().limits;
  if (phase_ == Phase::reading) {
    if (limits.idle_timeout > Millis::zero() && now - since_ >= limits.idle_timeout) close();
    return;
  }
  if (now - since_ < limits.write_timeout) return;
  if (phase_ == Phase::writing) loop_.state().metrics.dropped.add();
  close();
}

void RespConnection::on_stop() {
  for (int i = 0; i < kLastReadsMax && phase_ == Phase::reading; ++i) {
    if (!receive()) break;
    loop_.send_all();
  }
  if (phase_ != Phase::writing) close();
}

void RespConnection::wait(Phase phase) {
  if (phase_ == phase) return;
  const bool was_writing = phase_ == Phase::writing;
  phase_ = phase;
  since_ = loop_.now();
  const bool writes = phase == Phase::writing;
  if (was_writing != writes) loop_.watch(*this, writes);
}

void RespConnection::close() noexcept {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  std::string().swap(held_);
  std::string().swap(unsent_);
  session_.forget();
  charge();
  loop_.hang_up(*this);
}

// Small amounts are not worth an atomic shared by all threads.
void RespConnection::charge() {
  std::size_t bytes = held_.capacity() + unsent_.capacity() + session_.queued_bytes();
  if (bytes <= 2 * kKeptBytesMax) bytes = 0;
  if (charge_.try_resize(bytes)) return;
  loop_.state().metrics.dropped.add();
  close();
}

}  // namespace penstock::front
