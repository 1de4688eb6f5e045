// A RespLoop whose sockets are told ready by epoll, level-triggered and armed once per connection.
// For kernels and containers that give no io_uring.
#pragma once

#include <cstddef>

#include "front/resp/loop.h"

namespace penstock::front {

class EpollLoop final : public RespLoop {
 public:
  // `state` must outlive the loop.
  EpollLoop(RespState& state, std::size_t number);
  ~EpollLoop() override;

  void watch(RespConnection& connection, bool writes) override;
  void send_all() override;

 private:
  Result<void> begin() override;
  void end() override {}
  void turn(int wait_millis) override;
  void watch_listener(bool wanted) override;
  void attach(RespConnection& connection) override;

  int epoll_ = -1;
};

}  // namespace penstock::front
