// One connection of a channel, and the call that is on it. Made for a call, then at rest or at work
// until either side ends it. Lives on the loop's thread; handlers on their way keep it alive, and
// after close() it tells its channel nothing more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sink/http/answer.h"
#include "sink/http/asio.h"
#include "sink/http/channel.h"

namespace penstock::sink {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(Channel& channel);

  // Connects, then sends the call.
  void open(CallRef call);
  // Of one that is free: sends the call.
  void send(CallRef call);
  // Free, and neither closed by the peer nor spoken to, as far as this machine knows.
  bool is_usable() noexcept;
  // Of one that is free: tells the channel when it is of no more use.
  void rest();
  // Ends it at once; the call, if any, stays with the channel.
  void close();
  // Its call has no more time.
  void expire(Millis timeout);

  // For the channel's answers to find_addresses().
  void connect_to(const Loop::Addresses& addresses);
  void fail(std::string why);

  Micros idle_since{0};  // the channel's
  Micros born_at() const noexcept { return born_at_; }

 private:
  enum class State : std::uint8_t { connecting, free, busy, closed };

  void connect_next();
  void bound_attempt();
  void on_connected(const IoError& error);
  void begin_tls();
  void begin_call();
  void write();
  void on_written(const IoError& error);
  void read();
  void on_read(const IoError& error, std::size_t bytes);
  void on_stir();
  void on_read_end(const IoError& error);
  void take_answer();
  void give_up();
  void conclude(bool reusable);

  Channel* channel_;  // null once closed
  Loop& loop_;
  const Micros born_at_;
  TcpSocket socket_;
  std::optional<TlsStream> tls_;
  Timer attempt_timer_;
  State state_ = State::connecting;

  CallRef call_{};  // while connecting or busy
  bool reused_ = false;
  Loop::Addresses addresses_;  // still to be tried, the next one last
  std::string problem_;        // why the last attempt failed

  std::string out_;      // head and the body's begin
  std::string context_;  // the call's, while it is being sent
  bool writing_ = false;
  IoError write_error_;
  IoError read_error_;
  bool watched_ = false;  // while it rests, for what the peer does

  std::vector<char> in_;
  std::size_t filled_ = 0;
  AnswerReader answer_;
};

}  // namespace penstock::sink
