// What the server counts. Label sets are closed: eight methods, the status codes of the API.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "front/http/http.h"
#include "runtime/metrics.h"

namespace penstock::front {

// Safe on any thread. `metrics` must outlive this; one server per registry.
class HttpMetrics {
 public:
  explicit HttpMetrics(runtime::Metrics& metrics);

  void count(Method method, int status, double seconds);

  runtime::Gauge& connections;
  runtime::Gauge& streams;
  runtime::Counter& connections_refused;

 private:
  static constexpr std::size_t kMethods = static_cast<std::size_t>(Method::other) + 1;
  // The codes of the API contract and of this server; anything else counts as "other".
  static constexpr std::array kStatuses = {200, 201, 202, 204, 304, 400, 401, 403,
                                           404, 405, 408, 409, 413, 414, 415, 417,
                                           421, 422, 429, 431, 500, 503, 0};

  runtime::Counter& make(std::size_t method, std::size_t status);

  runtime::Metrics& metrics_;
  runtime::Histogram& duration_;
  std::mutex making_;  // a series is made when it is first needed: most of the 184 never are
  std::array<std::array<std::atomic<runtime::Counter*>, kStatuses.size()>, kMethods> requests_{};
};

}  // namespace penstock::front
