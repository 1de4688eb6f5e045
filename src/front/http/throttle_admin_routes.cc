#include "front/http/throttle_admin_routes.h"

#include <optional>
#include <string_view>
#include <utility>

#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "runtime/clocks.h"
#include "wire/throttle.h"

namespace penstock::front {
namespace {

using service::ThrottleService;

constexpr std::string_view kMetrics = "/admin/metrics";

std::string encode_metrics(const core::ThrottleTotals& totals,
                           const std::vector<core::KeyMetrics>& keys) {
  wire::JsonWriter out(keys.size() * 192 + 128);  // a key is about 160 bytes
  out.begin_object()
      .member("allowedTotal", static_cast<std::int64_t>(totals.allowed))
      .member("blockedTotal", static_cast<std::int64_t>(totals.blocked))
      .member("shadowDeniedTotal", static_cast<std::int64_t>(totals.shadow_denied))
      .member("policies", static_cast<std::int64_t>(totals.policies))
      .key("keys")
      .begin_array();
  for (const core::KeyMetrics& key : keys) wire::encode_key_metrics(out, key);
  out.end_array().end_object();
  return std::move(out).take();
}

void get_metrics(ThrottleService& throttle, const Clock& clock, const Request& request,
                 Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  throttle.list_metrics(
      std::move(page->after), page->limit + 1,
      [exchange = std::move(exchange), limit = page->limit,
       &throttle](Result<std::vector<core::KeyMetrics>> keys) mutable {
        if (!keys) return exchange.fail(keys.error());
        Response response;
        if (keys->size() > limit) {
          keys->resize(limit);
          response.headers.push_back(next_page_link(kMetrics, limit, keys->back().key));
        }
        response.body = encode_metrics(throttle.totals(), *keys);
        exchange.send(std::move(response));
      });
}

auto send_key_metrics(Exchange&& exchange) {
  return [exchange = std::move(exchange)](Result<core::KeyMetrics> metrics) mutable {
    if (!metrics) return exchange.fail(metrics.error());
    wire::JsonWriter out;
    wire::encode_key_metrics(out, *metrics);
    exchange.send(200, std::move(out).take());
  };
}

void get_key_metrics(ThrottleService& throttle, const Clock& clock, const Request& request,
                     Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto key = read_path_key(request, exchange);
  if (!key) return;
  throttle.key_metrics(std::move(*key), send_key_metrics(std::move(exchange)));
}

void get_top_denied(ThrottleService& throttle, const Clock& clock, const Request& request,
                    Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  wire::JsonWriter out;
  out.begin_array();
  for (const service::DeniedKey& key : throttle.top_denied(page->limit)) {
    out.begin_object()
        .member("key", key.key)
        .member("denied", static_cast<std::int64_t>(key.denied))
        .member("error", static_cast<std::int64_t>(key.error))
        .end_object();
  }
  out.end_array();
  exchange.send(200, std::move(out).take());
}

// Answers with the key as it is afterwards.
void reset_key(ThrottleService& throttle, const Clock& clock, const Request& request,
               Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto key = read_path_key(request, exchange);
  if (!key) return;
  std::string request_id = exchange.request_id();
  throttle.reset(*key, std::move(request_id),
                 [exchange = std::move(exchange), key = *key, &throttle](Result<bool> had) mutable {
                   if (!had) return exchange.fail(had.error());
                   throttle.key_metrics(std::move(key), send_key_metrics(std::move(exchange)));
                 });
}

Response encode_status(const DaemonStatus& status, const runtime::Stopwatch& since) {
  const Result<void> healthy = status.check();
  wire::JsonWriter out;
  out.begin_object()
      .member("status", healthy ? "UP" : "DOWN")
      .member("version", status.version)
      .key("commit");
  if (status.commit.empty()) {
    out.null();
  } else {
    out.value(status.commit);
  }
  out.member("uptimeSeconds", static_cast<std::int64_t>(since.seconds()))
      .member("mode", status.mode)
      .member("store", status.store);
  if (!healthy) out.member("message", healthy.error().what);
  out.end_object();
  return {.status = 200, .body = std::move(out).take()};
}

}  // namespace

void add_throttle_admin_routes(std::vector<Route>& routes, ThrottleService& throttle,
                               const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, auto* handler) {
    routes.push_back({method, pattern, Access::admin, BodyLimit::none,
                      [handler, &throttle, &clock](const Request& request, Reply&& reply) {
                        handler(throttle, clock, request, std::move(reply));
                      }});
  };
  add(Method::get, kMetrics, get_metrics);
  add(Method::get, "/admin/throttle/top-denied", get_top_denied);
  add(Method::get, "/admin/metrics/{key}", get_key_metrics);
  add(Method::post, "/admin/reset/{key}", reset_key);
}

void add_status_route(std::vector<Route>& routes, DaemonStatus status) {
  routes.push_back({Method::get, "/admin/status", Access::admin, BodyLimit::none,
                    [status = std::move(status), since = runtime::Stopwatch()](
                        const Request&, Reply&& reply) { reply(encode_status(status, since)); }});
}

}  // namespace penstock::front
