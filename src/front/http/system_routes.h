// Health and metrics: what an orchestrator and a scraper ask. And what there is to ask.
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
  // Quick too: a sentence while the part works, but not as it should; else empty.
  std::function<std::string()> warning = {};
};

// /health/live, /health/ready, /metrics, /q/metrics. `metrics` must outlive the routes.
void add_system_routes(std::vector<Route>& routes, std::vector<ReadyCheck> checks,
                       const runtime::Metrics& metrics);

// `GET /admin/routes`: the table as it is by now, itself included; so add it last. Tests hold the
// description of the API against it.
void add_route_table(std::vector<Route>& routes);

}  // namespace penstock::front
