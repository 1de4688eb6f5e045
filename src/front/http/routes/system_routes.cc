// What is asked of the daemon itself: health, metrics, status, its routes.
#include <utility>

#include "front/http/routes/exchange.h"
#include "front/http/routes/routes.h"
#include "runtime/clocks.h"

namespace penstock::front {
namespace {

Response live() { return {.status = 200, .body = R"({"status":"UP"})"}; }

Response ready(const std::vector<ReadyCheck>& checks) {
  wire::JsonWriter list;
  list.begin_array();
  bool all_up = true;
  bool degraded = false;
  for (const ReadyCheck& check : checks) {
    if (check.applies && !check.applies()) continue;
    const Result<void> result = check.check();
    all_up = all_up && result.has_value();
    const std::string warning = result && check.warning ? check.warning() : std::string();
    degraded = degraded || !warning.empty();
    list.begin_object()
        .member("name", check.name)
        .member("status", !result           ? "DOWN"
                          : warning.empty() ? "UP"
                                            : "DEGRADED");
    if (!result) list.member("message", result.error().what);
    if (!warning.empty()) list.member("message", warning);
    list.end_object();
  }
  list.end_array();
  wire::JsonWriter out;
  out.begin_object().member("status", !all_up ? "DOWN" : degraded ? "DEGRADED" : "UP");
  out.key("checks").raw(list.str()).end_object();
  Response response{.status = all_up ? 200 : 503, .body = std::move(out).take()};
  if (!all_up) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response scrape(const runtime::Metrics& metrics) {
  return {.status = 200,
          .body = metrics.prometheus_text(),
          .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

Response encode_status(const DaemonStatus& status, const runtime::Stopwatch& since) {
  const Result<void> healthy = status.check();
  wire::JsonWriter out;
  out.begin_object().member("status", healthy ? "UP" : "DOWN").member("version", status.version);
  text_or_null(out, "commit", status.commit);
  out.member("uptimeSeconds", static_cast<std::int64_t>(since.seconds()))
      .member("mode", status.mode)
      .member("store", status.store);
  if (!healthy) out.member("message", healthy.error().what);
  out.end_object();
  return {.status = 200, .body = std::move(out).take()};
}

void encode_route(wire::JsonWriter& out, const wire::RouteInfo& row) {
  out.begin_object()
      .member("method", to_string(row.method))
      .member("path", row.pattern)
      .member("access", to_string(row.access));
  if (!row.scope.empty()) out.member("scope", row.scope);
  out.member("body", to_string(row.body))
      .member("operationId", row.id)
      .member("summary", row.summary)
      .end_object();
}

// A handler that needs nothing of the request.
template <class Give>
Handler gives(Give give) {
  return [give = std::move(give)](const Request&, Reply&& reply) { reply(give()); };
}

}  // namespace

void add_health_routes(std::vector<Route>& routes, std::vector<ReadyCheck> checks,
                       const runtime::Metrics& metrics) {
  routes.emplace_back(wire::route("getLive"), gives(live));
  routes.emplace_back(wire::route("getReady"),
                      gives([checks = std::move(checks)] { return ready(checks); }));
  routes.emplace_back(wire::route("getMetrics"), gives([&metrics] { return scrape(metrics); }));
  routes.emplace_back(wire::route("getMetricsAlias"),
                      gives([&metrics] { return scrape(metrics); }));
}

void add_status_route(std::vector<Route>& routes, DaemonStatus status) {
  routes.emplace_back(wire::route("getStatus"),
                      gives([status = std::move(status), since = runtime::Stopwatch()] {
                        return encode_status(status, since);
                      }));
}

void add_table_route(std::vector<Route>& routes) {
  routes.emplace_back(wire::route("listRoutes"), gives([] {
                        return Response{.body = json_array(wire::kRoutes, encode_route)};
                      }));
}

}  // namespace penstock::front
