// One thread of the RESP server: an epoll set, the connections on it, and the memory they share
// while one of them is at work. All of it is touched by that thread only, but for give(),
// request_stop() and load().
//
// Plain epoll and not Asio: a decision takes a fifth of a microsecond, and Asio's re-arming of each
// wait (a system call, two locks and a queue) would be most of the cost of a request.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "front/resp/connection.h"
#include "front/resp/state.h"
#include "front/resp/throttle_batch.h"
#include "runtime/stopwatch.h"

namespace penstock::front {

class RespLoop {
 public:
  // `state` must outlive the loop.
  RespLoop(RespState& state, std::size_t number);
  ~RespLoop();
  RespLoop(const RespLoop&) = delete;
  RespLoop& operator=(const RespLoop&) = delete;

  // Before run(): what it needs of the system.
  Result<void> open();
  // Before run(), on one loop: a listening socket, which becomes this loop's, and who takes what it
  // accepts. Null when the loop stops.
  void listen(int fd, std::function<void(int accepted)> take);

  // Runs until a stop is over. The body of the loop's thread.
  void run();
  // On any thread: connections have until `timeout` has passed to take their replies.
  void request_stop(Millis timeout);
  // On any thread: hands over a socket.
  void give(int fd);
  // Connections here, those on the way included.
  std::size_t load() const noexcept { return load_.load(std::memory_order_relaxed); }

  // For connections, on the loop's thread.
  RespState& state() noexcept { return state_; }
  Micros now() const noexcept { return now_; }
  bool stopping() const noexcept { return stopping_; }
  void watch(RespConnection& connection, std::uint32_t events) noexcept;
  // Sends `out` from `from` on, which is the connection's, together with the replies of others that
  // are ready at the same time, and calls its finish().
  void send_later(RespConnection& connection, std::size_t from);
  // Decides what is left in the batch, and sends all replies.
  void send_all();

  // 64 KiB: one read takes what a socket's default receive buffer holds.
  std::array<char, 64 * 1024> received;
  std::string out;  // replies that are not sent yet; empty between rounds

 private:
  std::vector<RespReply> replies_;  // of `out`

 public:
  ThrottleBatch batch;

 private:
  void handle(void* what);
  void send_ready();
  void accept_some();
  void pause_accepting(int error);
  void take_inbox();
  void adopt(int fd);
  void reap(RespConnection& connection);
  void begin_stop(Millis timeout);
  void tick();
  int wait_millis() const noexcept;

  RespState& state_;
  const std::size_t number_;
  const runtime::Stopwatch since_start_;
  int epoll_ = -1;
  int wake_ = -1;
  int listener_ = -1;
  std::function<void(int)> take_;
  bool accepting_ = false;
  bool warned_ = false;  // that descriptors ran out, since it last worked
  Micros accept_again_{0};

  std::vector<std::unique_ptr<RespConnection>> connections_;
  std::vector<RespConnection*> handled_;  // in this round; closed ones are deleted at its end
  Micros now_{0};
  Micros next_tick_{0};
  std::optional<Millis> stop_next_;  // begin_stop() with this once the events at hand are handled
  bool stopping_ = false;
  Micros stop_deadline_{0};

  std::atomic<std::size_t> load_{0};
  std::mutex mutex_;
  std::vector<int> inbox_;    // guarded by mutex_
  bool stop_wanted_ = false;  // guarded by mutex_
  Millis stop_timeout_{0};    // guarded by mutex_
  bool ended_ = false;        // guarded by mutex_
};

}  // namespace penstock::front
