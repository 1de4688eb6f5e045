// The HTTP/1.1 server: Boost.Beast and Asio on as many threads as it is given, each with its own
// event loop; the first also accepts and hands each connection to the thread that has fewest.
// Started and stopped by compose; handlers run on its threads, so they must not block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "front/guesses.h"
#include "front/http/http.h"
#include "front/http/server/request_guard.h"
#include "front/http/server/tokens.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"

namespace penstock::front {

struct HttpLimits {
  std::size_t request_line_bytes = 8 * 1024;  // beyond it 414
  std::size_t header_bytes = 16 * 1024;       // request line included; beyond it 431
  std::size_t body_bytes = 1024 * 1024;
  std::size_t batch_body_bytes = 16 * 1024 * 1024;
  std::size_t item_body_bytes = (1024 + 64) * 1024;  // an item of dispatch: its context and more
  Millis header_timeout = Seconds{10};  // from the first byte of a request to the end of its header
  Millis idle_timeout = Seconds{60};    // between requests, and for an answer nobody reads
  // A body may pause this long; it earns the time back at body_bytes_per_second, else 408.
  Millis body_grace = Seconds{10};
  std::size_t body_bytes_per_second = 1024;
  // Beyond them a connection is told 503 and closed.
  std::size_t connections = 10'000;
  // Refused ones that may be open at once just to hear 503; those beyond are closed unheard.
  std::size_t refusals = 256;
  // Viewers of the live stream at once; one more is told 503. Each costs some writes a second.
  std::size_t streams = 100;
  // A viewer that has so much of the stream yet to read is dropped: it may come again for all of
  // it.
  std::size_t stream_unread_bytes = 512 * 1024;
  // After an early answer (413, 431, …) the rest of what the client sends is read and dropped, up
  // to here, so that the client gets to read the answer.
  std::size_t drain_bytes = 32 * 1024 * 1024;
  Millis drain_timeout = Seconds{5};
  Millis shutdown_timeout = Seconds{10};
};

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;   // 0 = a free one
  std::size_t threads = 0;  // 0 = one per core
  HttpLimits limits;
  HttpTokens tokens;
  GuardRules guard;
  std::string tls_certificate_file;  // PEM chain; empty = plain HTTP
  std::string tls_key_file;
};

class HttpServer {
 public:
  // Routes' patterns, log, clock, metrics, guesses and memory must outlive the server; one server
  // per metrics registry. Unfinished requests, those under way and answers not yet sent draw on
  // `memory`; the request that finds no room there gets 503. `invalid` for options that cannot
  // work, `unavailable` when the address cannot be had.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options,
                                                   std::vector<Route> routes, const Clock& clock,
                                                   Log& log, runtime::Metrics& metrics,
                                                   Guesses& guesses, runtime::MemoryBudget& memory);
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const noexcept = 0;
  // Takes the tokens of `options` and reads its certificate and key anew. Requests and connections
  // that come later meet these; on an error nothing changes. On any thread.
  virtual Result<void> renew(const HttpOptions& options) = 0;
  // Sends an event to all that view the stream. On any thread; returns at once. Numbers grow.
  virtual void publish(const SharedEvent& event) = 0;
  // Stops accepting, lets requests in flight finish within limits.shutdown_timeout, then closes.
  // Blocks until done; idempotent.
  virtual void stop() = 0;
};

}  // namespace penstock::front
