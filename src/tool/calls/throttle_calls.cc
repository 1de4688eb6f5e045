#include "tool/calls/call.h"

namespace penstock::tool {
namespace {

using enum Form;
using wire::route;

constexpr std::int64_t kCostMax = 1'000'000'000'000;

// clang-format off
View decision() {
  return {.lines = {{"allowed", "allowed", yes_no}, {"retry after", "retryAfterMs", millis},
                    {"unchecked", "unchecked", yes_no}},
          .rows = "limits",
          .columns = {{"key", "key"}, {"allowed", "allowed", yes_no},
                      {"remaining", "remaining", count}, {"limit", "limit", count},
                      {"retry after", "retryAfterMs", millis},
                      {"reset after", "resetAfterMs", millis}, {"policy", "policy"},
                      {"shadow", "shadow", yes_no}}};
}

Argument keys() {
  return {.names = "KEY", .field = "keys",
          .help = "Up to 16 keys, which stand or fall together: user:123 ip:192.0.2.1",
          .kind = ArgumentKind::texts, .required = true, .max = 16};
}

// --- Policies ---

const std::vector<Column>& policy_columns() {
  static const std::vector<Column> columns{
      {"policy", "policyKey"}, {"type", "type"}, {"capacity", "capacity", count},
      {"refill", "refillRate", per_second}, {"window", "windowSeconds", seconds},
      {"shadow", "shadow", yes_no}, {"on store failure", "onStoreFailure"},
      {"version", "version", count}};
  return columns;
}

View policy_lines() { return {.lines = policy_columns()}; }

Argument policy_key(Place place) {
  return {.names = "KEY", .field = place == Place::path ? "key" : "policyKey",
          .help = "The keys that it holds for: exact, or a pattern such as 'user:*'",
          .place = place, .required = true};
}

std::vector<Argument> with_settings(Argument first) {
  return {std::move(first),
          {.names = "--capacity", .field = "capacity",
           .help = "Tokens of a bucket, requests of a window", .kind = ArgumentKind::integer,
           .min = 1, .max = 1'000'000'000'000},
          {.names = "--refill-rate", .field = "refillRate",
           .help = "Tokens a second, for buckets: 10, 0.5", .kind = ArgumentKind::decimal},
          {.names = "--window-seconds", .field = "windowSeconds",
           .help = "Length of the window, for windows", .kind = ArgumentKind::integer,
           .value_name = "SECONDS", .min = 1, .max = 31'622'400},
          {.names = "--type", .field = "type",
           .help = "How it counts; without it, TOKEN_BUCKET",
           .value_name = "TOKEN_BUCKET|GCRA|SLIDING_WINDOW|SLIDING_WINDOW_COUNTER|FIXED_WINDOW"},
          {.names = "--shadow", .field = "shadow",
           .help = "true decides and counts, but never denies", .kind = ArgumentKind::boolean},
          {.names = "--on-store-failure", .field = "onStoreFailure",
           .help = "What to do while a shared store does not answer",
           .value_name = "deny|allow|local"}};
}

View policy_versions() {
  View view{.rows = ".", .columns = policy_columns(), .none = "no versions"};
  view.columns.push_back({"changed", "changedAt", instant});
  view.columns.push_back({"deleted", "deleted", yes_no});
  return view;
}

// --- Keys ---

const std::vector<Column>& key_columns() {
  static const std::vector<Column> columns{
      {"key", "key"}, {"status", "status"}, {"tokens left", "currentTokens", count},
      {"capacity", "capacity", count}, {"used in window", "windowRequestCount", count},
      {"window", "windowSeconds", seconds}, {"algorithm", "algorithm"}};
  return columns;
}

View key_lines() { return {.lines = key_columns()}; }

}  // namespace

CallGroup throttle_calls() {
  return {.words = "throttle",
          .description = "Ask whether requests may pass now.",
          .calls = {
      {.name = "check", .route = &route("checkThrottle"),
       .about = "Ask whether a request may pass now, and charge it.",
       .note = "Exit code 0 when it may, 1 when it may not; then nothing is charged.",
       .examples = {"penstock throttle check user:123",
                    "penstock throttle check user:123 ip:192.0.2.1 --cost 5",
                    "penstock throttle check partner:acme --cost -1"},
       .arguments = {keys(),
                     {.names = "--cost", .field = "cost",
                      .help = "Tokens to charge; less than nothing gives back",
                      .kind = ArgumentKind::integer, .fallback = "1",
                      .min = -kCostMax, .max = kCostMax}},
       .shown_status = 429,
       .view = decision()},
      {.name = "peek", .route = &route("checkThrottle"),
       .about = "Look at what is left for keys, and charge nothing.",
       .examples = {"penstock throttle peek user:123",
                    "penstock throttle peek user:123 ip:192.0.2.1 --json"},
       .arguments = {keys()},
       .body_members = R"("cost":0)",
       .view = decision()},
      {.name = "batch", .route = &route("checkThrottles"),
       .about = "Decide about up to 10,000 requests in one call, each by itself.",
       .note = "Exit code 1 when an entry is malformed; one that is denied is an answer.",
       .examples = {"penstock throttle batch checks.ndjson",
                    "echo '{\"key\": \"user:123\", \"cost\": 2}' | penstock throttle batch -"},
       .body = BodySource::file,
       .view = {.rows = "results",
                .columns = {{"key", "key"}, {"allowed", "allowed", yes_no},
                            {"remaining", "remaining", count}, {"limit", "limit", count},
                            {"retry after", "retryAfterMs", millis}, {"policy", "policy"},
                            {"error", "message"}},
                .none = "no entries"}}}};
}

CallGroup policy_calls() {
  return {.words = "policies",
          .description = "Read and change the policies of throttle (needs the admin token).",
          .calls = {
      {.name = "list", .route = &route("listPolicies"),
       .note = "In the order of their keys.",
       .examples = {"penstock policies list", "penstock policies list --all --json"},
       .paged = true,
       .view = {.rows = ".", .columns = policy_columns(),
                .none = "no policies: every key follows the default one"}},
      {.name = "get", .route = &route("getPolicy"),
       .note = "That of exactly this key or pattern.",
       .examples = {"penstock policies get 'user:*'"},
       .view = policy_lines()},
      {.name = "create", .route = &route("createPolicy"),
       .about = "Make a policy: how much the keys that it matches may have.",
       .note = "What is not given is as in the default policy.",
       .examples = {"penstock policies create 'user:*' --capacity 100 --refill-rate 10",
                    "penstock policies create login --type SLIDING_WINDOW --capacity 5 "
                    "--window-seconds 60",
                    "penstock policies create 'ip:*' --body @policy.json --shadow true"},
       .arguments = with_settings(policy_key(Place::body)),
       .body = BodySource::whole,
       .view = policy_lines()},
      {.name = "update", .route = &route("replacePolicy"),
       .about = "Replace a policy; what is not given is as in the default policy.",
       .note = "Usage is kept; another --type starts anew.",
       .examples = {"penstock policies update 'user:*' --capacity 200 --refill-rate 20"},
       .arguments = with_settings(policy_key(Place::path)),
       .body = BodySource::whole,
       .without = "policyKey",
       .view = policy_lines()},
      {.name = "patch", .route = &route("changePolicy"),
       .note = "What is not given stays.",
       .examples = {"penstock policies patch 'user:*' --capacity 200"},
       .arguments = with_settings(policy_key(Place::path)),
       .body = BodySource::whole,
       .without = "policyKey",
       .view = policy_lines()},
      {.name = "delete", .route = &route("deletePolicy"),
       .note = "Its keys follow the next one that matches.",
       .examples = {"penstock policies delete 'user:*'"},
       .view = {.done = "deleted the policy {key}"}},
      {.name = "history", .route = &route("getPolicyHistory"),
       .note = "The newest first.",
       .examples = {"penstock policies history 'user:*'"},
       .view = policy_versions()}}};
}

CallGroup key_calls() {
  return {.words = "keys",
          .description = "Look at what keys have used, and reset it (needs the admin token).",
          .calls = {
      {.name = "list", .route = &route("listKeyMetrics"),
       .note = "Those of this node.",
       .examples = {"penstock keys list", "penstock keys list --all --json"},
       .paged = true,
       .view = {.lines = {{"allowed", "allowedTotal", count}, {"blocked", "blockedTotal", count},
                          {"shadow denied", "shadowDeniedTotal", count},
                          {"policies", "policies", count}},
                .rows = "keys", .columns = key_columns(), .none = "no keys in use"}},
      {.name = "get", .route = &route("getKeyMetrics"),
       .note = "One without usage has all its tokens.",
       .examples = {"penstock keys get user:123"},
       .view = key_lines()},
      {.name = "reset", .route = &route("resetKey"),
       .note = "It may then begin anew.",
       .examples = {"penstock keys reset user:123"},
       .view = key_lines()},
      {.name = "top-denied", .route = &route("listTopDenied"),
       .note = "Of this node, since it started. A count is never too low, and too high by at most "
               "its error.",
       .examples = {"penstock keys top-denied", "penstock keys top-denied --limit 10"},
       .arguments = {{.names = "--limit", .field = "limit", .help = "Keys to show at most",
                      .kind = ArgumentKind::integer, .place = Place::query, .fallback = "100",
                      .min = 1, .max = 1000}},
       .view = {.rows = ".",
                .columns = {{"key", "key"}, {"denied", "denied", count}, {"error", "error", count}},
                .none = "no key was denied"}}}};
}
// clang-format on

}  // namespace penstock::tool
