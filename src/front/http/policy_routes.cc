#include <optional>
#include <string>
#include <utility>

#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "front/http/throttle_admin_routes.h"
#include "wire/percent.h"
#include "wire/throttle.h"

namespace penstock::front {
namespace {

using service::ThrottleService;

constexpr std::string_view kPolicies = "/admin/policies";

std::string encode(const core::Policy& policy) {
  wire::JsonWriter out;
  wire::encode_policy(out, policy);
  return std::move(out).take();
}

void list_policies(ThrottleService& throttle, const Clock& clock, const Request& request,
                   Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  // One more than asked for tells whether there is a next page.
  throttle.list_policies(
      std::move(page->after), page->limit + 1,
      [exchange = std::move(exchange),
       limit = page->limit](Result<std::vector<core::Policy>> policies) mutable {
        if (!policies) return exchange.fail(policies.error());
        Response response;
        if (policies->size() > limit) {
          policies->resize(limit);
          response.headers.push_back(next_page_link(kPolicies, limit, policies->back().draft.key));
        }
        wire::JsonWriter out(policies->size() * 192 + 16);  // a policy is about 180 bytes
        out.begin_array();
        for (const core::Policy& policy : *policies) wire::encode_policy(out, policy);
        out.end_array();
        response.body = std::move(out).take();
        exchange.send(std::move(response));
      });
}

void create_policy(ThrottleService& throttle, const Clock& clock, const Request& request,
                   Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::PolicyDraft> draft =
      wire::decode_policy(document->root(), throttle.default_policy());
  if (!draft) return exchange.fail(draft.error());
  std::string request_id = exchange.request_id();
  throttle.create_policy(std::move(*draft), std::move(request_id),
                         [exchange = std::move(exchange)](Result<core::Policy> policy) mutable {
                           if (!policy) return exchange.fail(policy.error());
                           std::string location = std::string(kPolicies) + "/";
                           wire::append_percent_encoded(location, policy->draft.key);
                           Response response{.status = 201, .body = encode(*policy)};
                           response.headers.emplace_back("Location", std::move(location));
                           exchange.send(std::move(response));
                         });
}

// The answer of the routes that give one policy.
auto send_policy(Exchange&& exchange) {
  return [exchange = std::move(exchange)](Result<core::Policy> policy) mutable {
    if (!policy) return exchange.fail(policy.error());
    exchange.send(200, encode(*policy));
  };
}

void get_policy(ThrottleService& throttle, const Clock& clock, const Request& request,
                Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto key = read_path_key(request, exchange);
  if (!key) return;
  throttle.find_policy(std::move(*key), send_policy(std::move(exchange)));
}

void put_policy(ThrottleService& throttle, const Clock& clock, const Request& request,
                Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto key = read_path_key(request, exchange);
  if (!key) return;
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::PolicyDraft> draft =
      wire::decode_policy(document->root(), throttle.default_policy(), *key);
  if (!draft) return exchange.fail(draft.error());
  std::string request_id = exchange.request_id();
  throttle.update_policy(
      std::move(*key), [draft = std::move(*draft)](const auto&) { return draft; },
      std::move(request_id), send_policy(std::move(exchange)));
}

// The body is read once the policy in force is known, so the merge takes a copy along.
void patch_policy(ThrottleService& throttle, const Clock& clock, const Request& request,
                  Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto key = read_path_key(request, exchange);
  if (!key || !read_json(request, exchange)) return;
  auto merge = [body = std::string(request.body),
                key = *key](const core::PolicyDraft& in_force) -> Result<core::PolicyDraft> {
    const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(body));
    return wire::decode_policy(document.root(), in_force, key);
  };
  std::string request_id = exchange.request_id();
  throttle.update_policy(std::move(*key), std::move(merge), std::move(request_id),
                         send_policy(std::move(exchange)));
}

void delete_policy(ThrottleService& throttle, const Clock& clock, const Request& request,
                   Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto key = read_path_key(request, exchange);
  if (!key) return;
  std::string request_id = exchange.request_id();
  throttle.remove_policy(std::move(*key), std::move(request_id),
                         [exchange = std::move(exchange)](Result<core::Policy> policy) mutable {
                           if (!policy) return exchange.fail(policy.error());
                           exchange.send_empty();
                         });
}

void get_policy_history(ThrottleService& throttle, const Clock& clock, const Request& request,
                        Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto key = read_path_key(request, exchange);
  if (!key) return;
  throttle.policy_history(std::move(*key), [exchange = std::move(exchange)](
                                               Result<std::vector<core::Policy>> versions) mutable {
    if (!versions) return exchange.fail(versions.error());
    wire::JsonWriter out;
    out.begin_array();
    for (const core::Policy& version : *versions) wire::encode_policy_version(out, version);
    out.end_array();
    exchange.send(200, std::move(out).take());
  });
}

}  // namespace

void add_policy_routes(std::vector<Route>& routes, ThrottleService& throttle, const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, auto* handler) {
    const bool has_body =
        method == Method::post || method == Method::put || method == Method::patch;
    routes.push_back({method, pattern, Access::admin,
                      has_body ? BodyLimit::single : BodyLimit::none,
                      [handler, &throttle, &clock](const Request& request, Reply&& reply) {
                        handler(throttle, clock, request, std::move(reply));
                      }});
  };
  add(Method::get, kPolicies, list_policies);
  add(Method::post, kPolicies, create_policy);
  add(Method::get, "/admin/policies/{key}", get_policy);
  add(Method::put, "/admin/policies/{key}", put_policy);
  add(Method::patch, "/admin/policies/{key}", patch_policy);
  add(Method::del, "/admin/policies/{key}", delete_policy);
  add(Method::get, "/admin/policies/{key}/history", get_policy_history);
}

}  // namespace penstock::front
