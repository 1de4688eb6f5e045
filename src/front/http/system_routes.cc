#include "front/http/system_routes.h"

#include <utility>

#include "wire/json.h"

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

std::string encode_routes(const std::vector<Route>& routes) {
  wire::JsonWriter out(routes.size() * 96 + 16);
  out.begin_array();
  for (const Route& route : routes) {
    out.begin_object()
        .member("method", to_string(route.method))
        .member("path", route.pattern)
        .member("access", to_string(route.access))
        .member("body", to_string(route.body))
        .end_object();
  }
  out.end_array();
  return std::move(out).take();
}

}  // namespace

void add_system_routes(std::vector<Route>& routes, std::vector<ReadyCheck> checks,
                       const runtime::Metrics& metrics) {
  const auto add = [&](std::string_view pattern, std::function<Response()> answer) {
    routes.push_back(
        {Method::get, pattern, Access::open, BodyLimit::none,
         [answer = std::move(answer)](const Request&, Reply&& reply) { reply(answer()); }});
  };
  add("/health/live", live);
  add("/health/ready", [checks = std::move(checks)] { return ready(checks); });
  add("/metrics", [&metrics] { return scrape(metrics); });
  add("/q/metrics", [&metrics] { return scrape(metrics); });
}

void add_route_table(std::vector<Route>& routes) {
  routes.push_back({Method::get, "/admin/routes", Access::admin, BodyLimit::none, {}});
  routes.back().handler = [table = encode_routes(routes)](const Request&, Reply&& reply) {
    reply({.status = 200, .body = table});
  };
}

}  // namespace penstock::front
