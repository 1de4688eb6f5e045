#include <string_view>
#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

const Argument kTypeArgument{.names = "ITEM_TYPE",
                             .field = "itemType",
                             .help = "The type",
                             .place = Place::path,
                             .required = true};

struct Range {
  std::int64_t min;
  std::int64_t max;
};

Argument whole_number(std::string_view names, std::string_view field, std::string_view value_name,
                      Range range, std::string_view help) {
  return {.names = names,
          .field = field,
          .help = help,
          .kind = ArgumentKind::integer,
          .value_name = value_name,
          .min = range.min,
          .max = range.max};
}

std::vector<Argument> settings() {
  std::vector<Argument> all{
      kTypeArgument,
      {.names = "--sink",
       .field = "sink",
       .help = "Where items go: JSON text, @FILE, or - for standard input",
       .kind = ArgumentKind::json},
      {.names = "--enabled",
       .field = "enabled",
       .help = "false is the kill switch",
       .kind = ArgumentKind::boolean},
      whole_number("--max-per-second", "maxPerSecond", "COUNT", {1, 1'000'000},
                   "Hand-overs in any sliding second, over all nodes; none = no pace"),
      whole_number("--burst", "burst", "COUNT", {1, 1'000'000},
                   "Hand-overs back to back, within that pace; none = a tenth of it"),
      whole_number("--max-dispatch-retries", "maxDispatchRetries", "COUNT", {1, 1'000},
                   "Attempts that may fail until the item is dead"),
      whole_number("--retry-backoff-ms", "retryBackoffMs", "MILLIS", {0, 86'400'000},
                   "Wait after the first failed attempt; doubles"),
      whole_number("--retry-backoff-max-ms", "retryBackoffMaxMs", "MILLIS", {0, 86'400'000},
                   "The most that it becomes"),
      whole_number("--jitter-window-ms", "jitterWindowMs", "MILLIS", {0, 3'600'000},
                   "Items that want one instant are spread over this time"),
      whole_number("--batch-size", "batchSize", "COUNT", {1, 5'000},
                   "Items in one claim; does not cap the pace"),
      whole_number("--dispatch-interval-secs", "dispatchIntervalSecs", "SECONDS", {1, 3'600},
                   "How often it looks at least"),
      whole_number("--pre-start-buffer-mins", "preStartBufferMins", "MINUTES", {0, 1'440},
                   "How early an item may be claimed"),
      whole_number("--stale-claim-threshold-mins", "staleClaimThresholdMins", "MINUTES", {1, 1'440},
                   "A claim that was never settled is taken again after this time"),
      whole_number("--max-pause-secs", "maxPauseSecs", "SECONDS", {1, 86'400},
                   "A sink that says \"slow down\" is believed for at most so long")};
  for (Argument& argument : all) {
    argument.nullable = argument.field == "maxPerSecond" || argument.field == "burst";
  }
  return all;
}

View type_lines() {
  return {.lines = {{"type", "itemType"},
                    {"enabled", "enabled", Form::yes_no},
                    {"pace", "maxPerSecond", Form::per_second},
                    {"burst", "burst", Form::count},
                    {"sink", "sink", Form::json},
                    {"attempts", "maxDispatchRetries", Form::count},
                    {"backoff", "retryBackoffMs", Form::millis},
                    {"backoff at most", "retryBackoffMaxMs", Form::millis},
                    {"spread", "jitterWindowMs", Form::millis},
                    {"claims of", "batchSize", Form::count},
                    {"looks every", "dispatchIntervalSecs", Form::seconds},
                    {"claimed early by", "preStartBufferMins", Form::minutes},
                    {"stale after", "staleClaimThresholdMins", Form::minutes},
                    {"pause at most", "maxPauseSecs", Form::seconds},
                    {"version", "version", Form::count},
                    {"changed", "changedAt", Form::instant}}};
}

Call put() {
  return {.name = "put",
          .method = "PUT",
          .path = "/admin/dispatch/types/{itemType}",
          .description =
              "Make a type, or replace it: what is not given gets its default.\n"
              "Every node follows within a second.",
          .examples = {"penstock types put ORDER --max-per-second 50 --sink '{\"type\": \"http\", "
                       "\"url\": \"http://127.0.0.1:9090/orders\"}'",
                       "penstock types put REPORT --enabled false",
                       "penstock types put ORDER --body @order-type.json"},
          .arguments = settings(),
          .body = BodySource::whole,
          .view = type_lines()};
}

Call patch() {
  return {.name = "patch",
          .method = "PATCH",
          .path = "/admin/dispatch/types/{itemType}",
          .description = "Change some settings of a type; what is not given stays.",
          .examples = {"penstock types patch ORDER --max-per-second 10",
                       "penstock types patch ORDER --max-per-second none",
                       "penstock types patch ORDER --sink @sink.json"},
          .arguments = settings(),
          .body = BodySource::whole,
          .view = type_lines()};
}

// The kill switch, both ways.
Call enable(bool on) {
  return {.name = on ? "enable" : "disable",
          .method = "PATCH",
          .path = "/admin/dispatch/types/{itemType}",
          .description = on ? "Hand over items of a type again."
                            : "The kill switch: hand-overs of a type stop within a second on "
                              "every node.\nItems are kept and taken as before.",
          .examples = {on ? "penstock types enable ORDER" : "penstock types disable ORDER"},
          .arguments = {kTypeArgument},
          .body_members = on ? R"("enabled":true)" : R"("enabled":false)",
          .view = type_lines()};
}

}  // namespace

std::span<const Call> item_type_calls() {
  static const std::vector<Call> calls{
      {.name = "list",
       .method = "GET",
       .path = "/admin/dispatch/types",
       .description = "List the types in the order of their names.",
       .examples = {"penstock types list", "penstock types list --all --json"},
       .paged = true,
       .view = {.rows = ".",
                .columns = {{"type", "itemType"},
                            {"enabled", "enabled", Form::yes_no},
                            {"pace", "maxPerSecond", Form::per_second},
                            {"attempts", "maxDispatchRetries", Form::count},
                            {"sink", "sink.type"},
                            {"to", "sink.url|sink.topic|sink.workflowType|sink.host"},
                            {"version", "version", Form::count},
                            {"changed", "changedAt", Form::instant}},
                .none = "no types yet: penstock types put makes one"}},
      {.name = "get",
       .method = "GET",
       .path = "/admin/dispatch/types/{itemType}",
       .description = "Show a type; of secrets only how many there are.",
       .examples = {"penstock types get ORDER"},
       .arguments = {kTypeArgument},
       .view = type_lines()},
      put(),
      patch(),
      enable(true),
      enable(false),
      {.name = "history",
       .method = "GET",
       .path = "/admin/dispatch/types/{itemType}/history",
       .description = "List all changes of a type, newest first.",
       .examples = {"penstock types history ORDER", "penstock types history ORDER --json"},
       .arguments = {kTypeArgument},
       .view = {
           .rows = ".",
           .columns = {{"at", "at", Form::instant},
                       {"enabled", "new.enabled", Form::yes_no},
                       {"pace", "new.maxPerSecond", Form::per_second},
                       {"pace before", "old.maxPerSecond", Form::per_second},
                       {"attempts", "new.maxDispatchRetries", Form::count},
                       {"sink", "new.sink.type"},
                       {"to", "new.sink.url|new.sink.topic|new.sink.workflowType|new.sink.host"}},
           .none = "no changes"}}};
  return calls;
}

}  // namespace penstock::tool
