#include "front/resp/epoll_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/check.h"

namespace penstock::front {
namespace {

constexpr int kEventsMax = 256;  // taken from the kernel at once
// Replies that leave together, once as many sockets were read: a client of many connections then
// wakes up for a group and not for each, and so do we for what it sends.
constexpr std::size_t kEpollRepliesMax = 16;
constexpr std::size_t kEpollReplyBytesMax = 16 * 1024;

void control(int epoll, int operation, int fd, std::uint32_t events, void* what) {
  epoll_event event{.events = events, .data = {.ptr = what}};
  PENSTOCK_CHECK(::epoll_ctl(epoll, operation, fd, &event) == 0);
}

}  // namespace

EpollLoop::EpollLoop(RespState& state, std::size_t number)
    : RespLoop(state, number, {.replies_max = kEpollRepliesMax, .bytes_max = kEpollReplyBytesMax}) {
}

EpollLoop::~EpollLoop() {
  if (epoll_ >= 0) ::close(epoll_);
}

Result<void> EpollLoop::begin() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) {
    return fail(ErrorKind::unavailable, fmt::format("cannot make an event loop: {}",
                                                    std::generic_category().message(errno)));
  }
  control(epoll_, EPOLL_CTL_ADD, wake_, EPOLLIN, &wake_);
  return {};
}

void EpollLoop::turn(int wait_millis) {
  std::array<epoll_event, kEventsMax> events;
  const int count = ::epoll_wait(epoll_, events.data(), kEventsMax, wait_millis);
  note_time();
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

void EpollLoop::send_all() {
  batch.settle(out);
  for (const auto& [connection, from, end] : replies_) {
    connection->reply_waits = false;
    connection->finish(std::string_view(out).substr(from, end - from));
  }
  replies_.clear();
  out.clear();
}

void EpollLoop::watch_listener(bool wanted) {
  control(epoll_, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_, EPOLLIN, &listener_);
}

void EpollLoop::attach(RespConnection& connection) {
  control(epoll_, EPOLL_CTL_ADD, connection.fd(), EPOLLIN, &connection);
}

void EpollLoop::watch(RespConnection& connection, bool writes) {
  control(epoll_, EPOLL_CTL_MOD, connection.fd(), writes ? EPOLLOUT : EPOLLIN, &connection);
}

}  // namespace penstock::front
