// A small HTTP/1.1 server that knows when the kernel received each request: whoever judges a pace
// must not blame the sender for the moments that it was itself asleep. One thread, plain epoll; for
// demonstrations and tests, so it has limits on sizes and numbers but none on slow clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/clocks.h"
#include "wire/http/message.h"
#include "wire/http/request_reader.h"
#include "wire/http/response_writer.h"
#include "wire/listen_address.h"

namespace penstock::tool {

class StampedServer {
 public:
  // Nothing: the connection is closed without an answer.
  using Handle = std::function<std::optional<wire::Response>(const wire::Request&, Instant at)>;

  // Every answer to a POST leaves `latency` after its request was read.
  static Result<std::unique_ptr<StampedServer>> open(const wire::ListenAddress& listen,
                                                     Millis latency, const Clock& clock,
                                                     Handle handle);
  ~StampedServer();
  StampedServer(const StampedServer&) = delete;
  StampedServer& operator=(const StampedServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  // Serves until `stopped` says so; both are called several times a second.
  void run(const std::function<bool()>& stopped, const std::function<void()>& on_tick);

 private:
  struct Connection;
  struct Delayed {
    double due;  // on since_start_
    std::uint64_t connection;
    bool operator>(const Delayed& other) const noexcept { return due > other.due; }
  };

  StampedServer(int listener, Millis latency, const Clock& clock, Handle handle);
  void accept_some();
  void on_ready(Connection& connection, std::uint32_t events);
  bool receive(Connection& connection);  // false: it is over
  bool serve(Connection& connection);    // false: it is over
  bool answer(Connection& connection, const wire::Request& request, bool keep_alive);
  bool send(Connection& connection);  // false: it is over
  void send_delayed();
  void watch(Connection& connection);
  void close(Connection& connection);
  int wait_millis() const noexcept;

  const int listener_;
  int epoll_ = -1;
  std::uint16_t port_ = 0;
  const Millis latency_;
  const Clock& clock_;
  const Handle handle_;
  const runtime::Stopwatch since_start_;
  wire::DateLine date_;
  std::uint64_t next_id_ = 1;  // 0 is the listener
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::priority_queue<Delayed, std::vector<Delayed>, std::greater<>> delayed_;  // one a connection
};

}  // namespace penstock::tool
