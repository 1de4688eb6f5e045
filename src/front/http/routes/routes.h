// Who answers the routes of the table (wire/http/routes.h): each of these binds the rows of one
// part. Services, clocks, feeds, files and metrics must outlive the routes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "front/http/http.h"
#include "front/http/routes/console_files.h"
#include "front/http/routes/gateway_answers.h"
#include "runtime/metrics.h"
#include "service/dispatch/dispatch_service.h"
#include "service/gateway/gateway_service.h"
#include "service/payments/payment_service.h"
#include "service/slots/slot_service.h"
#include "service/throttle/throttle_service.h"
#include "wire/filter_keys.h"

namespace penstock::front {

class LiveFeed;

// /api/v1/slots, /api/v1/windows, /admin/rate-limit.
void add_slot_routes(std::vector<Route>& routes, service::SlotService& slots, const Clock& clock);

// /api/v1/throttle, /admin/policies, /admin/metrics, /admin/reset.
void add_throttle_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                         const Clock& clock);
// /throttle/filter: what nginx auth_request, Traefik ForwardAuth and Caddy forward_auth ask before
// they let a request through.
void add_filter_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                       wire::FilterRules rules, const Clock& clock);

// /api/v1/dispatch for items, /admin/dispatch/types for their settings.
void add_dispatch_routes(std::vector<Route>& routes, service::DispatchService& dispatch,
                         std::size_t context_bytes_max, const Clock& clock);

// /api/v1/payments, /admin/payments/rules.
void add_payment_routes(std::vector<Route>& routes, service::PaymentService& payments,
                        std::size_t metadata_bytes_max, const Clock& clock);

// /api/config, /api/send, /api/messages, /api/analytics. What the sentences view must outlive the
// routes, too.
void add_gateway_routes(std::vector<Route>& routes, service::GatewayService& gateway,
                        const GatewaySentences& sentences, const Clock& clock);

// One thing that must work before the daemon is ready. `check` is called on a front thread, so it
// must be quick.
struct ReadyCheck {
  std::string name;
  std::function<Result<void>()> check;
  std::function<bool()> applies = {};  // quick too; while it says no, nothing is checked or shown
  // Quick too: a sentence while the part works, but not as it should; else empty.
  std::function<std::string()> warning = {};
};

struct DaemonStatus {
  std::string version;
  std::string commit = {};              // that it was built from; empty = not known
  std::string mode = "service";         // the other one is the library
  std::string store;                    // name of the backend
  std::function<Result<void>()> check;  // quick: called on a front thread
};

// /health/live, /health/ready, /metrics, /q/metrics: what an orchestrator and a scraper ask.
void add_health_routes(std::vector<Route>& routes, std::vector<ReadyCheck> checks,
                       const runtime::Metrics& metrics);
// /admin/status; counts the uptime from now on.
void add_status_route(std::vector<Route>& routes, DaemonStatus status);
// /admin/routes: the table.
void add_table_route(std::vector<Route>& routes);
// /admin/events: the history of the live feed, then its events.
void add_event_routes(std::vector<Route>& routes, const LiveFeed& feed);

// Pages that are built into the binary, compressed when it was built: the console at `/`, and the
// description of the API with its rendered form at `/docs`. Without a console, `/` says in a plain
// page how to build it.
void add_console_routes(std::vector<Route>& routes, std::span<const ConsoleFile> files,
                        const Clock& clock);
void add_description_routes(std::vector<Route>& routes, std::span<const ConsoleFile> files);

}  // namespace penstock::front
