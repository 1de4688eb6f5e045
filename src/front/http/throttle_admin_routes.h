// The routes of policies and of what people ask about keys: /admin/policies, /admin/metrics,
// /admin/reset, /admin/status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "front/http/http.h"
#include "service/throttle/throttle_service.h"

namespace penstock::front {

struct DaemonStatus {
  std::string version;
  std::string commit = {};              // that it was built from; empty = not known
  std::string mode = "service";         // the other one is the library
  std::string store;                    // name of the backend
  std::function<Result<void>()> check;  // quick: called on a front thread
};

// The service and the clock must outlive the routes.
void add_policy_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                       const Clock& clock);
void add_throttle_admin_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                               const Clock& clock);
// Counts the uptime from now on.
void add_status_route(std::vector<Route>& routes, DaemonStatus status);

}  // namespace penstock::front
