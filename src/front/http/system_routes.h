// Health and metrics: what an orchestrator and a scraper ask.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "front/http/http.h"
#include "runtime/metrics.h"

namespace penstock::front {

// One thing that must work before the daemon is ready. `check` is called on a front thread, so it
// must be quick.
struct ReadyCheck {
  std::string name;
  std::function<Result<void>()> check;
  std::function<bool()> applies = {};  // quick too; while it says no, nothing is checked or shown
};

// /health/live, /health/ready, /metrics, /q/metrics. `metrics` must outlive the routes.
void add_system_routes(std::vector<Route>& routes, std::vector<ReadyCheck> checks,
                       const runtime::Metrics& metrics);

}  // namespace penstock::front
