// What all threads of one server share: settings and tables that never change, and a few counters.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "front/guesses.h"
#include "front/http/http_metrics.h"
#include "front/http/request_guard.h"
#include "front/http/request_head.h"
#include "front/http/router.h"
#include "front/http/server.h"
#include "front/http/tls.h"
#include "front/http/tokens.h"
#include "runtime/snapshot.h"

namespace penstock::front {

struct ServerState {
  ServerState(const HttpOptions& options, std::vector<Route> routes, const Clock& system_clock,
              Log& server_log, runtime::Metrics& registry, Guesses& wrong_tokens,
              std::uint64_t seed)
      : limits(with_room_for_one(options.limits)),
        head_limits{options.limits.request_line_bytes, options.limits.header_bytes},
        router(std::move(routes)),
        gate(std::make_shared<const TokenGate>(options.tokens)),
        guard(options.address, !options.tls_certificate_file.empty(), options.guard),
        clock(system_clock),
        log(server_log),
        metrics(registry),
        guesses(wrong_tokens),
        request_id_seed(seed) {}

  // A buffer doubles as it grows, and its answer may be as large: one request must always fit.
  static HttpLimits with_room_for_one(HttpLimits limits) noexcept {
    limits.buffered_bytes =
        std::max({limits.buffered_bytes, 4 * limits.batch_body_bytes, 4 * limits.item_body_bytes});
    return limits;
  }

  const HttpLimits limits;
  const HeadLimits head_limits;
  const Router router;
  runtime::Snapshot<TokenGate> gate;
  const RequestGuard guard;
  const Clock& clock;
  Log& log;
  HttpMetrics metrics;
  Guesses& guesses;
  const std::uint64_t request_id_seed;
  runtime::Snapshot<TlsContext> tls{nullptr};  // null = plain; set before the threads start

  std::atomic<std::size_t> connections{0};     // open, refused ones not counted
  std::atomic<std::size_t> refusals{0};        // refused ones still being told so
  std::atomic<std::size_t> streams{0};         // sessions that view the live stream
  std::atomic<std::size_t> buffered_bytes{0};  // of unfinished requests and unsent answers
};

}  // namespace penstock::front
