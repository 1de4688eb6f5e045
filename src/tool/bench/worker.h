// One thread of a load: its share of the connections in one epoll loop. Closed loop: each
// connection asks again as soon as it has its answer. Open loop: requests leave on schedule over
// whichever connection is free; one that finds none free waits, and its wait counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tool/bench/connection.h"
#include "tool/bench/histogram.h"
#include "tool/bench/load.h"

namespace penstock::tool::bench {

// What others may look at while it runs.
struct alignas(64) LiveCounts {
  std::atomic<std::uint64_t> answers = 0;
  std::atomic<std::uint64_t> errors = 0;
};

class Worker {
 public:
  // All must outlive this. `stop` ends it soon, from any thread.
  Worker(const Plan& plan, std::size_t index, const std::atomic<bool>& stop, LiveCounts& live);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Opens the connections, as far as they can be; sends nothing yet.
  void connect_all();
  // Sends from `start` on, until the plan is done; then waits a little for the last answers.
  void run(Micros start);

  // After run().
  const Tally& tally() const noexcept { return tally_; }
  Micros ended() const noexcept { return ended_; }  // the last answer, or when sending ended

 private:
  void watch(std::size_t index);
  void connect(std::size_t index, Micros now);
  void broken(std::size_t index, Connection::Outcome outcome);
  void handle(std::size_t index, std::uint32_t events);
  void opened(std::size_t index, Micros now);
  void answered(std::size_t index, Micros now);
  void flush(std::size_t index);
  void fill(Connection& connection, Micros now);
  void list_ready(std::size_t index);
  void pump(Micros now);
  void look_after(Micros now);
  void stop_sending(Micros now);
  bool is_done_sending(Micros now) const noexcept;
  Micros next_wake(Micros now) const noexcept;
  void wait(Micros timeout);
  void finish(Micros now);

  const Plan& plan_;
  const std::atomic<bool>& stop_;
  LiveCounts& live_;
  RequestMaker maker_;
  std::optional<Schedule> schedule_;  // of an open loop
  int epoll_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<char> buffer_;  // what is being read, of whichever connection
  Tally tally_;

  bool sending_ = false;
  Micros start_{0};
  Micros end_{0};         // of sending
  Micros give_up_at_{0};  // waiting for the last answers
  Micros ended_{0};
  Micros next_look_{0};
  std::uint64_t limit_ = 0;  // requests that this thread may send; of an open loop, that are due
  std::uint64_t sent_ = 0;
  std::uint64_t given_up_ = 0;

  // Open loop: connections with room, the one that waits longest first. A ring.
  std::vector<std::size_t> ready_;
  std::size_t ready_first_ = 0;
  std::size_t ready_count_ = 0;
  std::vector<std::size_t> dirty_;  // have something to send
};

}  // namespace penstock::tool::bench
