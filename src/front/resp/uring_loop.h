// A RespLoop whose bytes the kernel moves: receiving is asked for once per connection and goes on,
// what was received stands in buffers of the ring, and the replies of a round leave with the system
// call that waits for the next. One such call per round, instead of two per request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/resp/loop.h"
#include "front/resp/uring.h"

namespace penstock::front {

class UringLoop final : public RespLoop {
 public:
  // `state` must outlive the loop. `buffers`: see Uring::Options.
  UringLoop(RespState& state, std::size_t number, std::size_t buffers);

  void watch(RespConnection& connection, bool writes) override;
  void send_all() override;

 private:
  enum class Operation : std::uint8_t;
  struct Event {
    std::uint64_t tag;
    int result;
    std::uint32_t flags;
  };

  Result<void> begin() override;
  void end() override { ring_.close(); }
  void turn(int wait_millis) override;
  void watch_listener(bool wanted) override;
  void attach(RespConnection& connection) override;
  void end_reading() override;

  void take_completions();
  void handle(const Event& event);
  void on_received(RespConnection& connection, const Event& event);
  void on_sent(RespConnection& connection, int result);
  void receive(RespConnection& connection);
  void stop_receiving(RespConnection& connection);
  void poll(int fd, unsigned events, std::uint64_t tag);
  void ask_to_send();
  void finish_sending();

  const std::size_t buffers_;
  Uring ring_;
  std::vector<Event> events_;                 // of this round
  std::vector<RespConnection*> interrupted_;  // in this round, and to be received from again
  unsigned sending_ = 0;       // sends whose end is not known; `out` stays as it is meanwhile
  std::size_t receiving_ = 0;  // connections that are received from
  bool reads_ = true;          // until a stop
};

}  // namespace penstock::front
