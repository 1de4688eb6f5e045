// One connection of a load: sends what is put into it, reads answers off, and remembers since when
// each request was due. Does not block, and allocates nothing once it is warm. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "tool/bench/answers.h"
#include "tool/bench/histogram.h"
#include "tool/bench/load.h"
#include "tool/bench/requests.h"

namespace penstock::tool::bench {

class Connection {
 public:
  enum class State : std::uint8_t { closed, connecting, open };
  // What became of a look at the socket.
  enum class Outcome : std::uint8_t { fine, lost, malformed, ended };

  // `plan` outlives this.
  explicit Connection(const Plan& plan);
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Begins to connect; false: it cannot even begin.
  bool connect(Micros now);
  // After the socket became writable; false: nobody is there.
  bool finish_connect(Micros now);
  void close() noexcept;

  // Puts one request behind the others; it is sent by flush().
  void put(RequestMaker& maker, Micros due, Micros now);
  // `lost`: the connection is broken. What the socket does not take stays for the next time.
  Outcome flush(Tally& tally);
  // Reads what is there, by way of `buffer`, and counts the answers. `ended`: the server hangs up
  // between answers, as it may.
  Outcome receive(std::span<char> buffer, Micros now, Tally& tally);

  State state() const noexcept { return state_; }
  int fd() const noexcept { return fd_; }
  bool wants_to_write() const noexcept { return state_ == State::open && sent_ < out_.size(); }
  std::size_t in_flight() const noexcept { return in_flight_; }
  bool has_room() const noexcept { return state_ == State::open && in_flight_ < due_.size(); }
  // Since when something is awaited and nothing came.
  Micros waiting_since() const noexcept { return waiting_since_; }

  // Forgets the requests under way; each counts as a latency by what it has waited.
  std::size_t give_up_all(Micros now, Tally& tally) noexcept;

  // For the worker's lists.
  bool is_ready_listed = false;
  bool is_dirty = false;
  std::uint32_t watched = 0;  // epoll events asked for
  Micros retry_at{0};         // while closed

 private:
  void count_answer(Micros now, Tally& tally);
  Outcome read_answers(std::span<char> bytes, std::size_t& used, Micros now, Tally& tally);

  const Plan& plan_;
  State state_ = State::closed;
  int fd_ = -1;
  std::unique_ptr<AnswerReader> reader_;
  std::string out_;
  std::size_t sent_ = 0;     // of out_
  std::string kept_;         // an answer's beginning
  std::vector<Micros> due_;  // of requests under way: a ring of as many as may be
  std::size_t oldest_ = 0;
  std::size_t in_flight_ = 0;
  Micros waiting_since_{0};
};

}  // namespace penstock::tool::bench
