// One thread of the RESP server: the connections on it, and the memory they share while one of them
// is at work. Sockets are told ready by epoll, level-triggered and armed once per connection. All
// of it is touched by that thread only, but for give(), request_stop() and load().
//
// Not Asio: a decision takes a fifth of a microsecond, and Asio's re-arming of each wait (a system
// call, two locks and a queue) would be most of the cost of a request.
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
#include "runtime/clocks.h"

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
  // From now on only for room to write, or only for what comes in.
  void watch(RespConnection& connection, bool writes);
  // Sends `out` from `from` on, which is the connection's, together with the replies of others that
  // are ready at the same time, and calls its finish().
  void send_later(RespConnection& connection, std::size_t from);
  // The same with the replies to the calls that the connection has added to `batch`, once they are
  // decided with those of others.
  void leave_calls(RespConnection& connection);
  // Decides what is in the batch, and sends. When it returns, each connection knows what became of
  // its replies, and `out` is empty.
  void send_all();
  // The connection is closed; it is deleted, and its socket with it, between rounds.
  void hang_up(RespConnection& connection);

  // 64 KiB: one read takes what a socket's default receive buffer holds.
  std::array<char, 64 * 1024> received;
  std::string out;      // replies that are not sent yet
  ThrottleBatch batch;  // its replies go to replies_

 private:
  // Waits for events, at most so long (-1 = forever), handles them, and sends the replies. Deletes
  // no connection.
  void turn(int wait_millis);
  void send_if_much();
  void watch_listener(bool wanted);
  void accept_some();
  void pause_accepting(int error);
  void take_inbox();
  void adopt(int fd);
  void remove_closed();
  void begin_stop(Millis timeout);
  void tick();
  int wait_millis() const noexcept;

  RespState& state_;
  const std::size_t number_;
  int epoll_ = -1;
  int wake_ = -1;
  int listener_ = -1;
  bool accepting_ = false;
  std::vector<RespReply> replies_;  // in `out`; at most one for each connection
  const runtime::Stopwatch since_start_;
  std::function<void(int)> take_;
  bool warned_ = false;  // that descriptors ran out, since it last worked
  Micros accept_again_{0};

  std::vector<RespConnection*> closed_;  // to be deleted
  std::vector<std::unique_ptr<RespConnection>> connections_;
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
