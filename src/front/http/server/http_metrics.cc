#include "front/http/server/http_metrics.h"

#include <algorithm>
#include <string>

namespace penstock::front {

HttpMetrics::HttpMetrics(runtime::Metrics& metrics)
    : connections(metrics.gauge("penstock_http_connections", "Open HTTP connections")),
      streams(metrics.gauge("penstock_http_streams", "Viewers of the live stream")),
      connections_refused(metrics.counter("penstock_http_connections_refused_total",
                                          "Connections refused because too many were open")),
      metrics_(metrics),
      duration_(metrics.histogram("penstock_http_request_duration_seconds",
                                  "From a request being read to its answer being ready",
                                  runtime::latency_bounds())) {}

void HttpMetrics::count(Method method, int status, double seconds) {
  // 200 is the first and nearly always the one.
  const auto found = std::ranges::find(kStatuses, status);
  const auto at =
      std::min(static_cast<std::size_t>(found - kStatuses.begin()), kStatuses.size() - 1);
  runtime::Counter* counter =
      requests_[static_cast<std::size_t>(method)][at].load(std::memory_order_acquire);
  (counter ? *counter : make(static_cast<std::size_t>(method), at)).add();
  duration_.observe(seconds);
}

runtime::Counter& HttpMetrics::make(std::size_t method, std::size_t status) {
  const std::lock_guard lock(making_);
  std::atomic<runtime::Counter*>& place = requests_[method][status];
  if (runtime::Counter* made = place.load(std::memory_order_relaxed)) return *made;
  const int code = kStatuses[status];
  runtime::Counter& made =
      metrics_.counter("penstock_http_requests_total", "HTTP requests answered",
                       {{"method", std::string(to_string(static_cast<Method>(method)))},
                        {"status", code == 0 ? std::string("other") : std::to_string(code)}});
  place.store(&made, std::memory_order_release);
  return made;
}

}  // namespace penstock::front
