// One session of SMPP over one connection, as a state machine: bytes, time and submits in; bytes
// and events out. Knows no socket, clock or thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "wire/smpp.h"

namespace penstock::sink {

struct SessionOptions {
  wire::SmppBind bind;
  std::size_t window = 32;             // submits without an answer
  Micros answer_within = Seconds{10};  // of a bind or a look at the line
  Micros look_after = Seconds{30};     // of silence: is the other side still there?
};

class SmppSession {
 public:
  using Ticket = std::uint64_t;  // of a submit, the caller's

  struct Answered {
    Ticket ticket = 0;
    std::uint32_t status = 0;
    std::string reference;
  };
  struct Delivered {
    std::uint32_t sequence = 0;  // to be answered by answer_delivery()
    wire::SmppMessage message;
  };

  // Binds at once.
  SmppSession(const SessionOptions& options, Micros now);

  void on_bytes(std::string_view bytes, Micros now);
  void on_time(Micros now);
  Micros wake_at() const noexcept { return std::min(answer_by_, look_at_); }

  bool is_bound() const noexcept { return state_ == State::bound; }
  bool has_room() const noexcept { return is_bound() && submits_.size() < options_.window; }
  // With room only.
  void submit(Ticket ticket, const wire::SmppMessage& message);
  // Nobody waits for its answer any more.
  void forget(Ticket ticket);
  void answer_delivery(std::uint32_t sequence, std::uint32_t status);
  void unbind(Micros now);

  // Why the session is over; none while it is not. The connection is to be closed once what is
  // still to be written was.
  const std::optional<std::string>& end() const noexcept { return end_; }
  bool has_left() const noexcept { return state_ == State::left; }  // it was unbound as asked

  // What came since the last call.
  std::string take_output() { return std::exchange(output_, {}); }
  std::vector<Answered> take_answered() { return std::exchange(answered_, {}); }
  std::vector<Delivered> take_delivered() { return std::exchange(delivered_, {}); }

 private:
  enum class State : std::uint8_t { binding, bound, leaving, left };

  void take(const wire::SmppFrame& frame);
  void take_bind_answer(const wire::SmppHeader& header);
  void take_submit_answer(const wire::SmppFrame& frame);
  void take_delivery(const wire::SmppFrame& frame);
  void expect_answer(Micros now) { answer_by_ = now + options_.answer_within; }
  void finish(std::string why);
  std::uint32_t next_sequence() noexcept;

  const SessionOptions options_;
  State state_ = State::binding;
  std::optional<std::string> end_;
  std::string input_;
  std::string output_;
  std::uint32_t sequence_ = 0;
  std::map<std::uint32_t, Ticket> submits_;  // by sequence
  Micros answer_by_ = Micros::max();         // of a bind, an unbind or a look at the line
  Micros look_at_ = Micros::max();
  std::vector<Answered> answered_;
  std::vector<Delivered> delivered_;
};

}  // namespace penstock::sink
