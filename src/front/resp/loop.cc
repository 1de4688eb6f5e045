#include "front/resp/loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string_view>
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
constexpr int kEventsMax = 256;  // taken from the kernel at once
// Replies that leave together, once as many sockets were read: a client of many connections then
// wakes up for a group and not for each, and so do we for what it sends.
constexpr std::size_t kGroupRepliesMax = 16;
constexpr std::size_t kGroupBytesMax = 16 * 1024;

void control(int epoll, int operation, int fd, std::uint32_t events, void* what) {
  epoll_event event{.events = events, .data = {.ptr = what}};
  PENSTOCK_CHECK(::epoll_ctl(epoll, operation, fd, &event) == 0);
}

}  // namespace

RespLoop::RespLoop(RespState& state, std::size_t number)
    : batch(state, replies_), state_(state), number_(number) {}

RespLoop::~RespLoop() {
  connections_.clear();
  for (const int fd : inbox_) ::close(fd);
  for (const int fd : {listener_, wake_, epoll_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<void> RespLoop::open() {
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (wake_ < 0 || epoll_ < 0) {
    return fail(ErrorKind::unavailable, fmt::format("cannot make an event loop: {}",
                                                    std::generic_category().message(errno)));
  }
  control(epoll_, EPOLL_CTL_ADD, wake_, EPOLLIN, &wake_);
  return {};
}

void RespLoop::listen(int fd, std::function<void(int)> take) {
  listener_ = fd;
  take_ = std::move(take);
  accepting_ = true;
}

void RespLoop::run() {
  runtime::set_thread_name(fmt::format("resp-{}", number_));
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  if (accepting_) watch_listener(true);
  while (!stopping_ || !connections_.empty()) {
    turn(wait_millis());
    if (stop_next_ && !stopping_) begin_stop(*stop_next_);
    if (now_ >= next_tick_) tick();
    remove_closed();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const int fd : std::exchange(inbox_, {})) {
    ::close(fd);
    state_.connections.fetch_sub(1, std::memory_order_relaxed);
  }
}

void RespLoop::turn(int wait_millis) {
  std::array<epoll_event, kEventsMax> events;
  const int count = ::epoll_wait(epoll_, events.data(), kEventsMax, wait_millis);
  now_ = std::chrono::duration_cast<Micros>(std::chrono::duration<double>(since_start_.seconds()));
  for (int i = 0; i < count; ++i) {
    void* const what = events[static_cast<std::size_t>(i)].data.ptr;
    if (what == &wake_) {
      take_inbox();
    } else if (what == &listener_) {
      accept_some();
    } else {
      static_cast<RespConnection*>(what)->on_ready();
    }
  }
  send_all();
}

void RespLoop::send_all() {
  batch.settle(out);
  for (const auto& [connection, from, end] : replies_) {
    connection->reply_waits = false;
    connection->finish(std::string_view(out).substr(from, end - from));
  }
  replies_.clear();
  out.clear();
}

void RespLoop::watch_listener(bool wanted) {
  control(epoll_, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_, EPOLLIN, &listener_);
}

void RespLoop::watch(RespConnection& connection, bool writes) {
  control(epoll_, EPOLL_CTL_MOD, connection.fd(), writes ? EPOLLOUT : EPOLLIN, &connection);
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
  if (replies_.size() >= kGroupRepliesMax || out.size() >= kGroupBytesMax) send_all();
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
  control(epoll_, EPOLL_CTL_ADD, adopted.fd(), EPOLLIN, &adopted);
  if (stopping_) adopted.on_stop();
}

void RespLoop::hang_up(RespConnection& connection) { closed_.push_back(&connection); }

// Between rounds: the events of a round may name a connection that was closed in it.
void RespLoop::remove_closed() {
  for (RespConnection* const connection : std::exchange(closed_, {})) {
    const std::size_t place = connection->place;
    std::swap(connections_[place], connections_.back());
    connections_[place]->place = place;
    connections_.pop_back();
    load_.fetch_sub(1, std::memory_order_relaxed);
    state_.connections.fetch_sub(1, std::memory_order_relaxed);
    state_.metrics.connections.add(-1);
  }
}

void RespLoop::begin_stop(Millis timeout) {
  stopping_ = true;
  stop_deadline_ = now_ + timeout;
  if (listener_ >= 0) {
    ::close(std::exchange(listener_, -1));
    accepting_ = false;
  }
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
