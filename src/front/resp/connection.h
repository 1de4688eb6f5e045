// One connection: a socket, the session that speaks on it, and what waits to be read or sent. Lives
// on its loop's thread; deleted by the loop once it is closed.
//
// While replies wait for the client to read them, nothing is read from it: what one connection
// holds is bounded by one request, one read and one turn's replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "front/resp/session.h"
#include "runtime/memory_budget.h"

namespace penstock::front {

class RespLoop;

class RespConnection {
 public:
  // Takes the socket, which is non-blocking.
  RespConnection(RespLoop& loop, int fd, std::uint64_t id);
  ~RespConnection();
  RespConnection(const RespConnection&) = delete;
  RespConnection& operator=(const RespConnection&) = delete;

  void on_ready();  // to be read from, or written to
  void on_tick(Micros now);
  void on_stop();  // answers what has arrived; then hangs up
  // The end of RespLoop::send_later(): what is not sent yet.
  void finish(std::string_view replies);
  void close() noexcept;

  bool is_closed() const noexcept { return phase_ == Phase::closed; }
  int fd() const noexcept { return fd_; }

  // The loop's.
  std::size_t place = 0;
  bool reply_waits = false;  // since send_later() or leave_calls()

 private:
  enum class Phase : std::uint8_t {
    reading,
    writing,    // until the client has read; nothing is read meanwhile
    lingering,  // until the client has read our last words
    closed,
  };

  bool receive();
  void serve(std::string_view in);
  void hold(std::string_view rest);
  bool send(std::string_view replies);
  void resume_writing();
  void end();
  void linger();
  void drop(std::size_t bytes);
  void wait(Phase phase);
  void charge();

  RespLoop& loop_;
  const int fd_;
  RespSession session_;
  Phase phase_ = Phase::reading;
  bool closing_ = false;  // hangs up once all is sent
  Micros since_;          // last heard of, or the start of the wait
  std::string held_;      // the start of a request, or what is not handled yet
  std::string unsent_;
  std::size_t sent_ = 0;  // of unsent_
  runtime::Charge charge_;
  std::size_t drained_bytes_ = 0;
};

}  // namespace penstock::front
