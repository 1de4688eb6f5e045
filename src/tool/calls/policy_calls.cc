#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

const std::vector<Column>& policy_columns() {
  static const std::vector<Column> columns{{"policy", "policyKey"},
                                           {"type", "type"},
                                           {"capacity", "capacity", Form::count},
                                           {"refill", "refillRate", Form::per_second},
                                           {"window", "windowSeconds", Form::seconds},
                                           {"shadow", "shadow", Form::yes_no},
                                           {"on store failure", "onStoreFailure"},
                                           {"version", "version", Form::count}};
  return columns;
}

View policy_lines() { return {.lines = policy_columns()}; }

Argument key(Place place) {
  return {.names = "KEY",
          .field = place == Place::path ? "key" : "policyKey",
          .help = "The keys that it holds for: exact, or a pattern such as 'user:*'",
          .place = place,
          .required = true};
}

std::vector<Argument> with_settings(Argument first) {
  return {first,
          {.names = "--capacity",
           .field = "capacity",
           .help = "Tokens of a bucket, requests of a window",
           .kind = ArgumentKind::integer,
           .min = 1,
           .max = 1'000'000'000'000},
          {.names = "--refill-rate",
           .field = "refillRate",
           .help = "Tokens a second, for buckets: 10, 0.5",
           .kind = ArgumentKind::decimal},
          {.names = "--window-seconds",
           .field = "windowSeconds",
           .help = "Length of the window, for windows",
           .kind = ArgumentKind::integer,
           .value_name = "SECONDS",
           .min = 1,
           .max = 31'622'400},
          {.names = "--type",
           .field = "type",
           .help = "How it counts; without it, TOKEN_BUCKET",
           .value_name = "TOKEN_BUCKET|GCRA|SLIDING_WINDOW|SLIDING_WINDOW_COUNTER|FIXED_WINDOW"},
          {.names = "--shadow",
           .field = "shadow",
           .help = "true decides and counts, but never denies",
           .kind = ArgumentKind::boolean},
          {.names = "--on-store-failure",
           .field = "onStoreFailure",
           .help = "What to do while a shared store does not answer",
           .value_name = "deny|allow|local"}};
}

Call create_policy() {
  return {.name = "create",
          .method = "POST",
          .path = "/admin/policies",
          .description =
              "Make a policy: how much the keys that it matches may have.\n"
              "What is not given is as in the default policy.",
          .examples = {"penstock policies create 'user:*' --capacity 100 --refill-rate 10",
                       "penstock policies create login --type SLIDING_WINDOW --capacity 5 "
                       "--window-seconds 60",
                       "penstock policies create 'ip:*' --body @policy.json --shadow true"},
          .arguments = with_settings(key(Place::body)),
          .body = BodySource::whole,
          .view = policy_lines()};
}

Call update() {
  return {.name = "update",
          .method = "PUT",
          .path = "/admin/policies/{key}",
          .description =
              "Replace a policy; what is not given is as in the default policy.\n"
              "Usage is kept; another --type starts anew.",
          .examples = {"penstock policies update 'user:*' --capacity 200 --refill-rate 20"},
          .arguments = with_settings(key(Place::path)),
          .body = BodySource::whole,
          .view = policy_lines()};
}

Call history() {
  std::vector<Column> columns = policy_columns();
  columns.push_back({"changed", "changedAt", Form::instant});
  columns.push_back({"deleted", "deleted", Form::yes_no});
  return {.name = "history",
          .method = "GET",
          .path = "/admin/policies/{key}/history",
          .description = "List all versions of a policy, newest first.",
          .examples = {"penstock policies history 'user:*'"},
          .arguments = {key(Place::path)},
          .view = {.rows = ".", .columns = columns, .none = "no versions"}};
}

}  // namespace

std::span<const Call> policy_calls() {
  static const std::vector<Call> calls{
      {.name = "list",
       .method = "GET",
       .path = "/admin/policies",
       .description = "List the policies in the order of their keys.",
       .examples = {"penstock policies list", "penstock policies list --all --json"},
       .paged = true,
       .view = {.rows = ".",
                .columns = policy_columns(),
                .none = "no policies: every key follows the default one"}},
      {.name = "get",
       .method = "GET",
       .path = "/admin/policies/{key}",
       .description = "Show the policy of exactly this key or pattern.",
       .examples = {"penstock policies get 'user:*'"},
       .arguments = {key(Place::path)},
       .view = policy_lines()},
      create_policy(),
      update(),
      {.name = "delete",
       .method = "DELETE",
       .path = "/admin/policies/{key}",
       .description = "Delete a policy; its keys follow the next one that matches.",
       .examples = {"penstock policies delete 'user:*'"},
       .arguments = {key(Place::path)},
       .view = {.done = "deleted the policy {key}"}},
      history()};
  return calls;
}

}  // namespace penstock::tool
