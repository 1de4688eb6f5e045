#include "front/resp/loop.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "front/accepting.h"
#include "runtime/threads.h"

namespace penstock::front {
namespace {

constexpr Millis kTick{250};  // time limits are seconds, and may be passed by this much
// Out of descriptors: the socket stays readable, so trying again at once would spin.
constexpr Millis kAcceptPause{100};

}  // namespace

RespLoop::RespLoop(RespState& state, std::size_t number, Grouping grouping)
    : batch(state, replies_), state_(state), number_(number), grouping_(grouping) {}

RespLoop::~RespLoop() {
  connections_.clear();
  for (const int fd : inbox_) ::close(fd);
  for (const int fd : {listener_, wake_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<void> RespLoop::open() {
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_ < 0) {
    return fail(ErrorKind::unavailable, fmt::format("cannot make an event loop: {}",
                                                    std::generic_category().message(errno)));
  }
  return {};
}

void RespLoop::listen(int fd, std::function<void(int)> take) {
  listener_ = fd;
  take_ = std::move(take);
  accepting_ = true;
}

void RespLoop::run(std::promise<Result<void>> begun) {
  runtime::set_thread_name(fmt::format("resp-{}", number_));
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Result<void> ready = begin();
  const bool runs = ready.has_value();
  begun.set_value(std::move(ready));
  if (!runs) return;
  if (accepting_) watch_listener(true);
  while (!stopping_ || !connections_.empty()) {
    turn(wait_millis());
    if (stop_next_ && !stopping_) begin_stop(*stop_next_);
    if (now_ >= next_tick_) tick();
    remove_closed();
  }
  end();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const int fd : std::exchange(inbox_, {})) {
    ::close(fd);
    state_.connections.fetch_sub(1, std::memory_order_relaxed);
  }
}

void RespLoop::note_time() {
  now_ = std::chrono::duration_cast<Micros>(std::chrono::duration<double>(since_start_.seconds()));
}

// An idle server does not wake up.
int RespLoop::wait_millis() const noexcept {
  if (connections_.empty() && (accepting_ || listener_ < 0)) return -1;
  return static_cast<int>(kTick.count());
}

void RespLoop::send_later(RespConnection& connection, std::size_t from) {
  PENSTOCK_CHECK(!std::exchange(connection.reply_waits, true));
  replies_.push_back({.connection = &connection, .from = from, .end = out.size()});
  send_if_much();
}

void RespLoop::leave_calls(RespConnection& connection) {
  PENSTOCK_CHECK(!std::exchange(connection.reply_waits, true));
  batch.leave(connection);
  send_if_much();
}

void RespLoop::send_if_much() {
  if (replies_.size() >= grouping_.replies_max || out.size() >= grouping_.bytes_max) send_all();
}

void RespLoop::accept_some() {
  for (int i = 0; i < kAcceptsPerTurn && accepting_; ++i) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      warned_ = false;
      take_(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return pause_accepting(errno);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    }  // else that connection failed before it was taken: the next one
  }
}

void RespLoop::pause_accepting(int error) {
  if (!std::exchange(warned_, true)) {
    state_.log.warn("resp.accept_failed", {{"error", std::generic_category().message(error)}});
  }
  watch_listener(false);
  accepting_ = false;
  accept_again_ = now_ + kAcceptPause;
}

void RespLoop::give(int fd) {
  load_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      ::close(fd);
      state_.connections.fetch_sub(1, std::memory_order_relaxed);
      load_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    inbox_.push_back(fd);
  }
  ::eventfd_write(wake_, 1);
}

void RespLoop::request_stop(Millis timeout) {
  {
    const std::lock_guard lock(mutex_);
    stop_wanted_ = true;
    stop_timeout_ = timeout;
  }
  ::eventfd_write(wake_, 1);
}

void RespLoop::take_inbox() {
  eventfd_t ignored = 0;
  ::eventfd_read(wake_, &ignored);
  std::vector<int> sockets;
  {
    const std::lock_guard lock(mutex_);
    sockets = std::exchange(inbox_, {});
    if (stop_wanted_ && !stopping_) stop_next_ = stop_timeout_;
  }
  for (const int fd : sockets) adopt(fd);
}

void RespLoop::adopt(int fd) {
  const std::uint64_t id = state_.next_id.fetch_add(1, std::memory_order_relaxed);
  auto connection = std::make_unique<RespConnection>(*this, fd, id);
  connection->place = connections_.size();
  if (connections_.empty()) next_tick_ = now_ + kTick;
  state_.metrics.connections.add(1);
  connections_.push_back(std::move(connection));
  RespConnection& adopted = *connections_.back();
  attach(adopted);
  if (stopping_) adopted.on_stop();
}

void RespLoop::hang_up(RespConnection& connection) {
  // The kernel keeps a socket open while it works on it; this makes it end that.
  if (connection.ring.is_used()) ::shutdown(connection.fd(), SHUT_RDWR);
  closed_.push_back(&connection);
}

// Between rounds: the events of a round may name a connection that was closed in it.
void RespLoop::remove_closed() {
  std::erase_if(closed_, [this](RespConnection* connection) {
    if (connection->ring.is_used()) return false;
    const std::size_t place = connection->place;
    std::swap(connections_[place], connections_.back());
    connections_[place]->place = place;
    connections_.pop_back();
    load_.fetch_sub(1, std::memory_order_relaxed);
    state_.connections.fetch_sub(1, std::memory_order_relaxed);
    state_.metrics.connections.add(-1);
    return true;
  });
}

void RespLoop::begin_stop(Millis timeout) {
  stopping_ = true;
  stop_deadline_ = now_ + timeout;
  if (listener_ >= 0) {
    ::shutdown(listener_, SHUT_RDWR);  // a wait in the kernel would keep it open
    ::close(std::exchange(listener_, -1));
    accepting_ = false;
  }
  end_reading();
  for (const auto& connection : connections_) connection->on_stop();
}

void RespLoop::tick() {
  next_tick_ = now_ + kTick;
  if (listener_ >= 0 && !accepting_ && now_ >= accept_again_) {
    watch_listener(true);
    accepting_ = true;
  }
  const bool over = stopping_ && now_ >= stop_deadline_;
  for (const auto& connection : connections_) {
    over ? connection->close() : connection->on_tick(now_);
  }
}

}  // namespace penstock::front
