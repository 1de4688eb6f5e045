// The routes that ask for decisions: /api/v1/throttle/check, …/check/batch, and /throttle/filter.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "front/http/routes/exchange.h"
#include "front/http/routes/routes.h"
#include "wire/percent.h"
#include "wire/throttle.h"
#include "wire/throttle_headers.h"

namespace penstock::front {
namespace {

using service::ThrottleService;

// An answer has about 100 bytes and 110 a limit, besides keys and policy names.
constexpr std::size_t kDecisionBytes = 448;
constexpr std::size_t kThrottleHeaderBytes = 192;

// 200 with the decision, or `denied_status` with the error body and the decision; the rate-limit
// headers on both.
Response throttle_response(const core::ThrottleDecision& decision, int denied_status,
                           const Exchange& exchange) {
  Response response{.status = decision.allowed ? 200 : denied_status};
  wire::JsonWriter out(kDecisionBytes);
  out.begin_object();
  if (!decision.allowed) {
    const std::string message = "Rate limit exceeded for key: " + std::string(decision.key());
    out.member("status", denied_status)
        .member("error", wire::reason_of(denied_status))
        .member("message", message)
        .member("timestamp", exchange.now())
        .member("requestId", exchange.request_id());
  }
  wire::encode_decision_members(out, decision);
  out.end_object();
  response.body = std::move(out).take();
  response.header_lines.reserve(kThrottleHeaderBytes);
  wire::append_throttle_headers(response.header_lines, decision);
  return response;
}

Result<void> check_one(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  const wire::JsonDocument document = PENSTOCK_TRY(read_json(request, exchange));
  const core::ThrottleCall call = PENSTOCK_TRY(wire::decode_throttle_call(document.root()));
  throttle.ask(call, [exchange = std::move(exchange)](
                         Result<void> decided, const core::ThrottleDecision& decision) mutable {
    if (!decided) return exchange.fail(decided.error());
    exchange.send(throttle_response(decision, 429, exchange));
  });
  return {};
}

// The keys are the ids of the entries: so they outlive the line of NDJSON that they stood in.
Result<BatchCalls<std::int64_t>> decode_checks(std::string_view body, wire::BatchFormat format) {
  BatchCalls<std::int64_t> costs;
  PENSTOCK_TRY(wire::for_each_entry(body, format, [&](const Result<wire::JsonValue>& value) {
    if (!value) return costs.add({}, std::unexpected(value.error()));
    Result<core::ThrottleCall> call = wire::decode_throttle_entry(*value);
    if (!call) return costs.add(entry_id(*value, "key"), std::unexpected(call.error()));
    costs.add(std::string(call->keys[0]), call->cost);
  }));
  return costs;
}

Result<void> check_batch(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  const auto format = PENSTOCK_TRY(batch_format_of(request, exchange));
  auto batch = PENSTOCK_TRY(decode_checks(request.body, format));
  std::vector<service::ThrottleEntry> asked;
  asked.reserve(batch.calls.size());
  for (const BatchEntry& entry : batch.entries) {
    if (!entry.error) asked.push_back({.key = entry.id, .cost = batch.calls[asked.size()]});
  }
  // The entries stay where they are when their vector moves.
  throttle.ask_batch(asked, [exchange = std::move(exchange), entries = std::move(batch.entries)](
                                ThrottleService::KeyDecisions decisions) mutable {
    exchange.send(200, encode_results(entries, decisions, "key",
                                      [](wire::JsonWriter& out, std::string_view /*key*/,
                                         const core::KeyDecision& given) {
                                        wire::encode_key_decision(out, given);
                                      }));
  });
  return {};
}

// --- The filter of proxies ---

enum class FilterMode : std::uint8_t { forward, nginx };

Result<FilterMode> parse_mode(std::string_view text) {
  if (text == "forward") return FilterMode::forward;
  if (text == "nginx") return FilterMode::nginx;
  return invalid_field("mode", "must be forward or nginx");
}

// nginx knows only 401 and 403 for "no"; it turns any other code into a 500.
int denied_status(FilterMode mode) { return mode == FilterMode::nginx ? 403 : 429; }

// Where a header stands twice, what a proxy adds stands last; the lists of X-Forwarded-For are one.
wire::FilterFacts facts_of(const Request& request, const wire::FilterRules& rules,
                           FilterMode mode) {
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
  if (mode == FilterMode::nginx) std::swap(original_uri, forwarded_uri);
  facts.uri = forwarded_uri.empty() ? original_uri : forwarded_uri;
  return facts;
}

struct Filter {
  ThrottleService& throttle;
  std::shared_ptr<const wire::FilterRules> rules;
};

Result<void> filter(const Filter& context, const Request& request, Exchange& exchange) {
  const auto asked = PENSTOCK_TRY(query_value(request, "mode", parse_mode));
  const FilterMode mode = asked.value_or(FilterMode::forward);
  const std::vector<std::string> keys =
      wire::filter_keys(*context.rules, facts_of(request, *context.rules, mode));
  core::ThrottleCall call;
  for (const std::string& key : keys) PENSTOCK_CHECK(call.add(key));
  context.throttle.ask(
      call, [exchange = std::move(exchange), mode](Result<void> decided,
                                                   const core::ThrottleDecision& decision) mutable {
        if (!decided) return exchange.fail(decided.error());
        if (!decision.allowed) {
          return exchange.send(throttle_response(decision, denied_status(mode), exchange));
        }
        Response allowed{.status = 204};
        wire::append_throttle_headers(allowed.header_lines, decision);
        exchange.send(std::move(allowed));
      });
  return {};
}

// --- Policies ---

std::string json_of_policy(const core::Policy& policy) {
  return json_of(wire::encode_policy, policy);
}

Result<void> list_policies(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  Page page = PENSTOCK_TRY(page_of(request));
  throttle.list_policies(
      std::move(page.after), page.limit + 1,
      sends_page(std::move(exchange), std::string(wire::route("listPolicies").pattern), page.limit,
                 wire::encode_policy, [](const core::Policy& last) { return last.draft.key; }));
  return {};
}

Result<void> create_policy(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  auto draft = PENSTOCK_TRY(read_body(request, exchange, [&](wire::JsonValue value) {
    return wire::decode_policy(value, throttle.default_policy());
  }));
  std::string request_id = exchange.request_id();
  throttle.create_policy(
      std::move(draft), std::move(request_id),
      [exchange = std::move(exchange)](const Result<core::Policy>& policy) mutable {
        if (!policy) return exchange.fail(policy.error());
        std::string location = std::string(wire::route("createPolicy").pattern) + "/";
        wire::append_percent_encoded(location, policy->draft.key);
        Response response{.status = 201, .body = json_of_policy(*policy)};
        response.headers.emplace_back("Location", std::move(location));
        exchange.send(std::move(response));
      });
  return {};
}

Result<void> get_policy(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  throttle.find_policy(std::move(key), sends(std::move(exchange), wire::encode_policy));
  return {};
}

Result<void> replace_policy(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  auto draft = PENSTOCK_TRY(read_body(request, exchange, [&](wire::JsonValue value) {
    return wire::decode_policy(value, throttle.default_policy(), key);
  }));
  std::string request_id = exchange.request_id();
  throttle.update_policy(
      std::move(key), [draft = std::move(draft)](const auto&) { return draft; },
      std::move(request_id), sends(std::move(exchange), wire::encode_policy));
  return {};
}

// The body is read once the policy in force is known, so the merge takes a copy along.
Result<void> patch_policy(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  PENSTOCK_TRY(read_json(request, exchange));
  auto merge = [body = std::string(request.body),
                key](const core::PolicyDraft& in_force) -> Result<core::PolicyDraft> {
    const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(body));
    return wire::decode_policy(document.root(), in_force, key);
  };
  std::string request_id = exchange.request_id();
  throttle.update_policy(std::move(key), std::move(merge), std::move(request_id),
                         sends(std::move(exchange), wire::encode_policy));
  return {};
}

Result<void> delete_policy(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  std::string request_id = exchange.request_id();
  throttle.remove_policy(std::move(key), std::move(request_id), sends_nothing(std::move(exchange)));
  return {};
}

Result<void> get_policy_history(ThrottleService& throttle, const Request& request,
                                Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  throttle.policy_history(std::move(key),
                          sends_list(std::move(exchange), wire::encode_policy_version));
  return {};
}

// --- Keys ---

std::string encode_metrics(const core::ThrottleTotals& totals,
                           const std::vector<core::KeyMetrics>& keys) {
  wire::JsonWriter out;
  out.begin_object()
      .member("allowedTotal", static_cast<std::int64_t>(totals.allowed))
      .member("blockedTotal", static_cast<std::int64_t>(totals.blocked))
      .member("shadowDeniedTotal", static_cast<std::int64_t>(totals.shadow_denied))
      .member("policies", static_cast<std::int64_t>(totals.policies))
      .key("keys")
      .raw(json_array(keys, wire::encode_key_metrics))
      .end_object();
  return std::move(out).take();
}

Result<void> list_metrics(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  Page page = PENSTOCK_TRY(page_of(request));
  throttle.list_metrics(std::move(page.after), page.limit + 1,
                        [exchange = std::move(exchange), limit = page.limit,
                         &throttle](Result<std::vector<core::KeyMetrics>> keys) mutable {
                          if (!keys) return exchange.fail(keys.error());
                          Response response;
                          cut_page(response, *keys, wire::route("listKeyMetrics").pattern, limit,
                                   [](const core::KeyMetrics& last) { return last.key; });
                          response.body = encode_metrics(throttle.totals(), *keys);
                          exchange.send(std::move(response));
                        });
  return {};
}

Result<void> get_key_metrics(ThrottleService& throttle, const Request& request,
                             Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  throttle.key_metrics(std::move(key), sends(std::move(exchange), wire::encode_key_metrics));
  return {};
}

Result<void> list_top_denied(ThrottleService& throttle, const Request& request,
                             Exchange& exchange) {
  const Page page = PENSTOCK_TRY(page_of(request));
  exchange.send(200, json_array(throttle.top_denied(page.limit),
                                [](wire::JsonWriter& out, const service::DeniedKey& key) {
                                  out.begin_object()
                                      .member("key", key.key)
                                      .member("denied", static_cast<std::int64_t>(key.denied))
                                      .member("error", static_cast<std::int64_t>(key.error))
                                      .end_object();
                                }));
  return {};
}

// Answers with the key as it is afterwards.
Result<void> reset_key(ThrottleService& throttle, const Request& request, Exchange& exchange) {
  std::string key = PENSTOCK_TRY(path_key(request));
  std::string request_id = exchange.request_id();
  throttle.reset(key, std::move(request_id),
                 [exchange = std::move(exchange), key, &throttle](const Result<bool>& had) mutable {
                   if (!had) return exchange.fail(had.error());
                   throttle.key_metrics(std::move(key),
                                        sends(std::move(exchange), wire::encode_key_metrics));
                 });
  return {};
}

}  // namespace

void add_throttle_routes(std::vector<Route>& routes, ThrottleService& throttle,
                         const Clock& clock) {
  const Binder<ThrottleService&> bind(routes, throttle, clock);
  bind(wire::route("checkThrottle"), check_one);
  bind(wire::route("checkThrottles"), check_batch);
  bind(wire::route("listPolicies"), list_policies);
  bind(wire::route("createPolicy"), create_policy);
  bind(wire::route("getPolicy"), get_policy);
  bind(wire::route("replacePolicy"), replace_policy);
  bind(wire::route("changePolicy"), patch_policy);
  bind(wire::route("deletePolicy"), delete_policy);
  bind(wire::route("getPolicyHistory"), get_policy_history);
  bind(wire::route("listKeyMetrics"), list_metrics);
  bind(wire::route("getKeyMetrics"), get_key_metrics);
  bind(wire::route("listTopDenied"), list_top_denied);
  bind(wire::route("resetKey"), reset_key);
}

void add_filter_routes(std::vector<Route>& routes, ThrottleService& throttle,
                       wire::FilterRules rules, const Clock& clock) {
  PENSTOCK_CHECK(rules.rules.size() <= core::kThrottleKeysMax);
  const Binder<Filter> bind(
      routes, {throttle, std::make_shared<const wire::FilterRules>(std::move(rules))}, clock);
  bind(wire::route("filterGet"), filter);
  bind(wire::route("filterHead"), filter);
  bind(wire::route("filterPost"), filter);
  bind(wire::route("filterPut"), filter);
  bind(wire::route("filterPatch"), filter);
  bind(wire::route("filterDelete"), filter);
  bind(wire::route("filterOptions"), filter);
}

}  // namespace penstock::front
