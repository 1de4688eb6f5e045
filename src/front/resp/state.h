// What all threads of one RESP server share: settings that never change, and a few counters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "front/guesses.h"
#include "front/resp/server.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"
#include "runtime/snapshot.h"
#include "service/throttle/throttle_service.h"

namespace penstock::front {

// Of its connections. What was decided is counted by the service.
struct RespMetrics {
  explicit RespMetrics(runtime::Metrics& registry)
      : connections(registry.gauge("penstock_resp_connections", "Open RESP connections")),
        refused(registry.counter("penstock_resp_connections_refused_total",
                                 "RESP connections closed because there were too many")),
        protocol_errors(registry.counter("penstock_resp_protocol_errors_total",
                                         "RESP connections closed because of what they sent")),
        dropped(registry.counter("penstock_resp_connections_dropped_total",
                                 "RESP connections closed because they did not read their replies "
                                 "or the memory for those was used up")) {}

  runtime::Gauge& connections;
  runtime::Counter& refused;
  runtime::Counter& protocol_errors;
  runtime::Counter& dropped;
};

struct RespState {
  RespState(const RespOptions& options, service::ThrottleService& service, Log& server_log,
            runtime::Metrics& registry, Guesses& guessed, runtime::MemoryBudget& budget)
      : limits(options.limits),
        password(std::make_shared<const std::string>(options.password)),
        throttle(service),
        log(server_log),
        metrics(registry),
        guesses(guessed),
        memory(budget) {}

  const RespLimits limits;
  runtime::Snapshot<std::string> password;  // never logged
  service::ThrottleService& throttle;
  Log& log;
  RespMetrics metrics;
  Guesses& guesses;
  runtime::MemoryBudget& memory;

  std::atomic<bool> warned_http{false};     // that somebody speaks HTTP; once
  std::atomic<std::uint64_t> next_id{1};    // of a connection
  std::atomic<std::size_t> connections{0};  // open
};

}  // namespace penstock::front
