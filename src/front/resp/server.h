// The server of the Redis protocol: CL.THROTTLE, and what Redis clients say around it. As many
// threads as it is given, each with its own event loop; the first also accepts and hands each
// connection to the thread that has fewest. Decisions are made on these threads: with a shared
// engine each waits for it. Started and stopped by compose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "front/guesses.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"
#include "service/throttle/throttle_service.h"

namespace penstock::front {

struct RespLimits {
  // Beyond them a connection is told so and closed.
  std::size_t connections = 10'000;
  // A client that reads nothing of its replies, or does not read our last words.
  Millis write_timeout = Seconds{30};
  // Without a request; zero = as long as it likes, which is what pools of Redis clients expect.
  Millis idle_timeout = Millis::zero();
  Millis shutdown_timeout = Seconds{5};
};

struct RespOptions {
  std::string address;  // empty = no such server
  std::uint16_t port = 6380;
  std::size_t threads = 0;  // 0 = one per core, at least two
  std::string password;     // empty = none is asked for
  RespLimits limits;
};

class RespServer {
 public:
  // Throttle, log, metrics, guesses and memory must outlive the server; one server per metrics
  // registry. `invalid` for options that cannot work, `unavailable` when the address
  // cannot be had. Unfinished requests, transactions and replies not yet sent draw on `memory`; the
  // connection that finds no room there is closed. One connection holds at most about 330 KiB: it
  // is not read from while its replies wait. With MULTI it may hold 1 MiB more, and then its
  // replies.
  static Result<std::unique_ptr<RespServer>> start(const RespOptions& options,
                                                   service::ThrottleService& throttle, Log& log,
                                                   runtime::Metrics& metrics, Guesses& guesses,
                                                   runtime::MemoryBudget& memory);
  virtual ~RespServer() = default;

  virtual std::uint16_t port() const noexcept = 0;
  // Connections that log in from now on say this password; empty = none is asked for. Any thread.
  virtual void renew(std::string password) = 0;
  // Stops accepting, answers what has arrived, waits for clients to read it within
  // limits.shutdown_timeout, then closes. Blocks until done; idempotent.
  virtual void stop() = 0;
};

}  // namespace penstock::front
