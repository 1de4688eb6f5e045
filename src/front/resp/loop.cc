#include "front/resp/loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "runtime/thread_name.h"

namespace penstock::front {
namespace {

constexpr int kEventsMax = 256;      // taken from the kernel at once
constexpr int kAcceptsPerTurn = 64;  // others on the loop get their turn in between
// Replies that leave together, once as many sockets were read: a client of many connections then
// wakes up for a group and not for each, and so do we for what it sends.
constexpr std::size_t kRepliesMax = 16;
constexpr std::size_t kReplyBytesMax = 16 * 1024;
constexpr Millis kTick{250};  // time limits are seconds, and may be passed by this much
// Out of descriptors: the socket stays readable, so trying again at once would spin.
constexpr Millis kAcceptPause{100};

void add(int epoll, int fd, void* what) noexcept {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = what}};
  PENSTOCK_CHECK(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

}  // namespace

RespLoop::RespLoop(RespState& state, std::size_t number)
    : batch(state, replies_), state_(state), number_(number) {}

RespLoop::~RespLoop() {
  for (const int fd : inbox_) ::close(fd);
  for (const int fd : {listener_, wake_, epoll_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<void> RespLoop::open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (epoll_ < 0 || wake_ < 0) {
    return fail(ErrorKind::unavailable, fmt::format("cannot make an event loop: {}",
                                                    std::generic_category().message(errno)));
  }
  add(epoll_, wake_, &wake_);
  return {};
}

void RespLoop::listen(int fd, std::function<void(int)> take) {
  listener_ = fd;
  take_ = std::move(take);
  add(epoll_, listener_, &listener_);
  accepting_ = true;
}

void RespLoop::run() {
  runtime::set_thread_name(fmt::format("resp-{}", number_));
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::array<epoll_event, kEventsMax> events;
  while (!stopping_ || !connections_.empty()) {
    const int count = ::epoll_wait(epoll_, events.data(), kEventsMax, wait_millis());
    now_ =
        std::chrono::duration_cast<Micros>(std::chrono::duration<double>(since_start_.seconds()));
    for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)].data.ptr);
    send_all();
    for (RespConnection* const connection : handled_) reap(*connection);
    handled_.clear();
    // Not before all events are handled: these two delete connections that an event may name.
    if (stop_next_ && !stopping_) begin_stop(*stop_next_);
    if (now_ >= next_tick_) tick();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const int fd : std::exchange(inbox_, {})) {
    ::close(fd);
    state_.connections.fetch_sub(1, std::memory_order_relaxed);
  }
}

// An idle server does not wake up.
int RespLoop::wait_millis() const noexcept {
  if (connections_.empty() && (accepting_ || listener_ < 0)) return -1;
  return static_cast<int>(kTick.count());
}

void RespLoop::handle(void* what) {
  if (what == &wake_) return take_inbox();
  if (what == &listener_) return accept_some();
  auto& connection = *static_cast<RespConnection*>(what);
  connection.on_ready();
  handled_.push_back(&connection);
}

void RespLoop::send_later(RespConnection& connection, std::size_t from) {
  replies_.push_back({.connection = &connection, .from = from, .end = out.size()});
  if (replies_.size() >= kRepliesMax || out.size() >= kReplyBytesMax) send_ready();
}

void RespLoop::send_all() {
  batch.settle(out);
  send_ready();
}

void RespLoop::send_ready() {
  for (const auto& [connection, from, end] : replies_) {
    connection->finish(std::string_view(out).substr(from, end - from));
  }
  replies_.clear();
  out.clear();
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
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
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
  add(epoll_, fd, connection.get());
  state_.metrics.connections.add(1);
  connections_.push_back(std::move(connection));
  if (!stopping_) return;
  RespConnection& late = *connections_.back();
  late.on_stop();
  reap(late);
}

// Deletes it when it is closed. Only for the connection whose event is at hand, or between batches
// of events: a batch names a connection once, and what is closed gets no more of them.
void RespLoop::reap(RespConnection& connection) {
  if (!connection.is_closed()) return;
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
  load_.fetch_sub(1, std::memory_order_relaxed);
  state_.connections.fetch_sub(1, std::memory_order_relaxed);
  state_.metrics.connections.add(-1);
}

void RespLoop::watch(RespConnection& connection, std::uint32_t events) noexcept {
  epoll_event event{.events = events, .data = {.ptr = &connection}};
  PENSTOCK_CHECK(::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd(), &event) == 0);
}

void RespLoop::begin_stop(Millis timeout) {
  stopping_ = true;
  stop_deadline_ = now_ + timeout;
  if (listener_ >= 0) {
    ::close(std::exchange(listener_, -1));
    accepting_ = false;
  }
  for (std::size_t i = connections_.size(); i-- > 0;) {
    RespConnection& connection = *connections_[i];
    connection.on_stop();
    reap(connection);
  }
}

void RespLoop::tick() {
  next_tick_ = now_ + kTick;
  if (listener_ >= 0 && !accepting_ && now_ >= accept_again_) {
    add(epoll_, listener_, &listener_);
    accepting_ = true;
  }
  const bool over = stopping_ && now_ >= stop_deadline_;
  // From the last: what is deleted is replaced by one that was looked at already.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    RespConnection& connection = *connections_[i];
    over ? connection.close() : connection.on_tick(now_);
    reap(connection);
  }
}

}  // namespace penstock::front
