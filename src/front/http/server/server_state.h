// What all threads of one server share: settings and tables that never change, and a few counters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "front/guesses.h"
#include "front/http/server/http_metrics.h"
#include "front/http/server/request_guard.h"
#include "front/http/server/router.h"
#include "front/http/server/server.h"
#include "front/http/server/tls.h"
#include "front/http/server/tokens.h"
#include "runtime/memory_budget.h"
#include "runtime/snapshot.h"
#include "wire/http/request_head.h"

namespace penstock::front {

struct ServerState {
  ServerState(const HttpOptions& options, std::vector<Route> routes, const Clock& system_clock,
              Log& server_log, runtime::Metrics& registry, Guesses& guessed,
              runtime::MemoryBudget& budget, std::uint64_t seed)
      : limits(options.limits),
        head_limits{options.limits.request_line_bytes, options.limits.header_bytes},
        router(std::move(routes)),
        gate(std::make_shared<const TokenGate>(options.tokens)),
        guard(options.address, !options.tls_certificate_file.empty(), options.guard),
        clock(system_clock),
        log(server_log),
        metrics(registry),
        guesses(guessed),
        memory(budget),
        request_id_seed(seed) {}

  const HttpLimits limits;
  const wire::HeadLimits head_limits;
  const Router router;
  runtime::Snapshot<TokenGate> gate;
  const RequestGuard guard;
  const Clock& clock;
  Log& log;
  HttpMetrics metrics;
  Guesses& guesses;
  runtime::MemoryBudget& memory;
  const std::uint64_t request_id_seed;
  runtime::Snapshot<TlsContext> tls{nullptr};  // null = plain; set before the threads start

  std::atomic<std::size_t> connections{0};  // open, refused ones not counted
  std::atomic<std::size_t> refusals{0};     // refused ones still being told so
  std::atomic<std::size_t> streams{0};      // sessions that view the live stream
};

}  // namespace penstock::front
