#include "front/http/filter_routes.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "front/http/json_routes.h"
#include "front/http/throttle_answer.h"
#include "wire/throttle_headers.h"

namespace penstock::front {
namespace {

constexpr std::string_view kPath = "/throttle/filter";

enum class Mode : std::uint8_t { forward, nginx };

Result<Mode> mode_of(const Request& request) {
  const Result<std::optional<std::string>> mode = request.query_param("mode");
  if (!mode) return std::unexpected(mode.error());
  if (!*mode || (*mode)->empty() || **mode == "forward") return Mode::forward;
  if (**mode == "nginx") return Mode::nginx;
  return invalid_field("mode", "must be forward or nginx");
}

// nginx knows only 401 and 403 for "no"; it turns any other code into a 500.
int denied_status(Mode mode) { return mode == Mode::nginx ? 403 : 429; }

// Where a header stands twice, what a proxy adds stands last; the lists of X-Forwarded-For are one.
wire::FilterFacts facts_of(const Request& request, const wire::FilterRules& rules, Mode mode) {
  wire::FilterFacts facts{.peer_address = request.peer_address};
  std::string_view original_uri;   // nginx, as it is usually set up
  std::string_view forwarded_uri;  // Traefik, Caddy
  for (const auto& [name, value] : request.headers) {
    if (ascii_equal(name, "X-Forwarded-For")) {
      facts.forwarded_for.push_back(value);
    } else if (ascii_equal(name, "X-API-Key")) {
      if (facts.api_key.empty()) facts.api_key = value;
    } else if (ascii_equal(name, rules.user_header)) {
      facts.user = value;
    } else if (ascii_equal(name, "X-Original-URI")) {
      original_uri = value;
    } else if (ascii_equal(name, "X-Forwarded-Uri")) {
      forwarded_uri = value;
    }
  }
  // A proxy sets the header of its kind; the other one may be the client's.
  if (mode == Mode::nginx) std::swap(original_uri, forwarded_uri);
  facts.uri = forwarded_uri.empty() ? original_uri : forwarded_uri;
  return facts;
}

Response allowed(const core::ThrottleDecision& decision) {
  Response response{.status = 204};
  wire::append_throttle_headers(response.header_lines, decision);
  return response;
}

void filter(service::ThrottleService& throttle, const wire::FilterRules& rules, const Clock& clock,
            const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const Result<Mode> mode = mode_of(request);
  if (!mode) return exchange.fail(mode.error());
  const std::vector<std::string> keys = wire::filter_keys(rules, facts_of(request, rules, *mode));
  core::ThrottleCall call;
  for (const std::string& key : keys) PENSTOCK_CHECK(call.add(key));
  throttle.ask(call, [exchange = std::move(exchange), mode = *mode](
                         Result<void> decided, const core::ThrottleDecision& decision) mutable {
    if (!decided) return exchange.fail(decided.error());
    if (decision.allowed) return exchange.send(allowed(decision));
    exchange.send(
        throttle_response(decision, denied_status(mode), exchange.request_id(), exchange.now()));
  });
}

}  // namespace

void add_filter_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                       wire::FilterRules rules, const Clock& clock) {
  PENSTOCK_CHECK(rules.rules.size() <= core::kThrottleKeysMax);
  const auto shared = std::make_shared<const wire::FilterRules>(std::move(rules));
  for (const Method method : {Method::get, Method::head, Method::post, Method::put, Method::patch,
                              Method::del, Method::options}) {
    routes.push_back({method,
                      kPath,
                      Access::api,
                      BodyLimit::none,
                      [&throttle, shared, &clock](const Request& request, Reply&& reply) {
                        filter(throttle, *shared, clock, request, std::move(reply));
                      },
                      {},      // no scope
                      true});  // speaks for the clients of a proxy
  }
}

}  // namespace penstock::front
