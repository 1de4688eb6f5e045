#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

constexpr std::int64_t kCostMax = 1'000'000'000'000;

View decision() {
  return {.lines = {{"allowed", "allowed", Form::yes_no},
                    {"retry after", "retryAfterMs", Form::millis},
                    {"unchecked", "unchecked", Form::yes_no}},
          .rows = "limits",
          .columns = {{"key", "key"},
                      {"allowed", "allowed", Form::yes_no},
                      {"remaining", "remaining", Form::count},
                      {"limit", "limit", Form::count},
                      {"retry after", "retryAfterMs", Form::millis},
                      {"reset after", "resetAfterMs", Form::millis},
                      {"policy", "policy"},
                      {"shadow", "shadow", Form::yes_no}}};
}

const Argument kKeys{.names = "KEY",
                     .field = "keys",
                     .help = "Up to 16 keys, which stand or fall together: user:123 ip:192.0.2.1",
                     .kind = ArgumentKind::texts,
                     .required = true,
                     .max = 16};

Call check() {
  return {.name = "check",
          .method = "POST",
          .path = "/api/v1/throttle/check",
          .description =
              "Ask whether a request may pass now, and charge it.\n"
              "Exit code 0 when it may, 1 when it may not; then nothing is charged.",
          .examples = {"penstock throttle check user:123",
                       "penstock throttle check user:123 ip:192.0.2.1 --cost 5",
                       "penstock throttle check partner:acme --cost -1"},
          .arguments = {kKeys,
                        {.names = "--cost",
                         .field = "cost",
                         .help = "Tokens to charge; less than nothing gives back",
                         .kind = ArgumentKind::integer,
                         .fallback = "1",
                         .min = -kCostMax,
                         .max = kCostMax}},
          .shown_status = 429,
          .view = decision()};
}

Call peek() {
  return {.name = "peek",
          .method = "POST",
          .path = "/api/v1/throttle/check",
          .description = "Look at what is left for keys, and charge nothing.",
          .examples = {"penstock throttle peek user:123",
                       "penstock throttle peek user:123 ip:192.0.2.1 --json"},
          .arguments = {kKeys},
          .body_members = R"("cost":0)",
          .view = decision()};
}

Call check_batch() {
  return {.name = "batch",
          .method = "POST",
          .path = "/api/v1/throttle/check/batch",
          .description =
              "Decide about up to 10,000 requests in one call, each by itself.\n"
              "Exit code 1 when an entry is malformed; one that is denied is an answer.",
          .examples = {"penstock throttle batch checks.ndjson",
                       "echo '{\"key\": \"user:123\", \"cost\": 2}' | penstock throttle batch -"},
          .body = BodySource::entries,
          .view = {.rows = "results",
                   .columns = {{"key", "key"},
                               {"allowed", "allowed", Form::yes_no},
                               {"remaining", "remaining", Form::count},
                               {"limit", "limit", Form::count},
                               {"retry after", "retryAfterMs", Form::millis},
                               {"policy", "policy"},
                               {"error", "message"}},
                   .none = "no entries"}};
}

View key_lines() {
  return {.lines = {{"key", "key"},
                    {"status", "status"},
                    {"tokens left", "currentTokens", Form::count},
                    {"capacity", "capacity", Form::count},
                    {"used in window", "windowRequestCount", Form::count},
                    {"window", "windowSeconds", Form::seconds},
                    {"algorithm", "algorithm"}}};
}

const Argument kKeyArgument{
    .names = "KEY", .field = "key", .help = "The key", .place = Place::path, .required = true};

Call list_keys() {
  return {.name = "list",
          .method = "GET",
          .path = "/admin/metrics",
          .description = "Show the totals of this node and the keys in use.",
          .examples = {"penstock keys list", "penstock keys list --all --json"},
          .paged = true,
          .view = {.lines = {{"allowed", "allowedTotal", Form::count},
                             {"blocked", "blockedTotal", Form::count},
                             {"shadow denied", "shadowDeniedTotal", Form::count},
                             {"policies", "policies", Form::count}},
                   .rows = "keys",
                   .columns = {{"key", "key"},
                               {"status", "status"},
                               {"tokens left", "currentTokens", Form::count},
                               {"capacity", "capacity", Form::count},
                               {"used in window", "windowRequestCount", Form::count},
                               {"window", "windowSeconds", Form::seconds},
                               {"algorithm", "algorithm"}},
                   .none = "no keys in use"}};
}

Call top_denied() {
  return {.name = "top-denied",
          .method = "GET",
          .path = "/admin/throttle/top-denied",
          .description =
              "Show the keys that this node denied most since it started.\n"
              "A count is never too low, and too high by at most its error.",
          .examples = {"penstock keys top-denied", "penstock keys top-denied --limit 10"},
          .arguments = {{.names = "--limit",
                         .field = "limit",
                         .help = "Keys to show at most",
                         .kind = ArgumentKind::integer,
                         .place = Place::query,
                         .fallback = "100",
                         .min = 1,
                         .max = 1000}},
          .view = {.rows = ".",
                   .columns = {{"key", "key"},
                               {"denied", "denied", Form::count},
                               {"error", "error", Form::count}},
                   .none = "no key was denied"}};
}

}  // namespace

std::span<const Call> throttle_calls() {
  static const std::vector<Call> calls{check(), peek(), check_batch()};
  return calls;
}

std::span<const Call> key_calls() {
  static const std::vector<Call> calls{
      list_keys(),
      {.name = "get",
       .method = "GET",
       .path = "/admin/metrics/{key}",
       .description = "Show the usage of a key; one without usage has all its tokens.",
       .examples = {"penstock keys get user:123"},
       .arguments = {kKeyArgument},
       .view = key_lines()},
      {.name = "reset",
       .method = "POST",
       .path = "/admin/reset/{key}",
       .description = "Forget the usage of a key, so that it may begin anew.",
       .examples = {"penstock keys reset user:123"},
       .arguments = {kKeyArgument},
       .view = key_lines()},
      top_denied()};
  return calls;
}

}  // namespace penstock::tool
