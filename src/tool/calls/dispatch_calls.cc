#include "tool/calls/call.h"

namespace penstock::tool {
namespace {

using enum Form;
using wire::route;

// clang-format off
View item_view() {
  return {.lines = {{"type", "itemType"}, {"item", "itemId"}, {"status", "status"},
                    {"scheduled", "scheduledTime", instant}, {"attempts", "attempts", count},
                    {"failed", "retryCount", count}, {"last error", "lastError"},
                    {"created", "createdAt", instant}, {"claimed", "claimedAt", instant},
                    {"dispatched", "dispatchedAt", instant}, {"batch", "batchId"}},
          .rows = "audit",
          .columns = {{"at", "at", instant}, {"action", "action"}, {"from", "from"}, {"to", "to"},
                      {"detail", "detail"}}};
}

Call enqueue() {
  return {.name = "enqueue", .route = &route("enqueueItem"),
          .about = "Schedule an item: at a time, or by --slot when a window of a config has room.",
          .note = "Durable when it is answered; the same again changes nothing.",
          .examples = {"penstock dispatch enqueue ORDER o-1 --at now+PT10M",
                       "penstock dispatch enqueue ORDER o-2 --at now --context '{\"customer\": 17}'",
                       "penstock dispatch enqueue ORDER o-3 --slot payments --context @order.json"},
          .arguments = {
              {.names = "ITEM_ID", .field = "itemId", .help = "The item within its type",
               .required = true},
              {.names = "--at", .field = "scheduledTime",
               .help = "Not before: 2025-06-01T12:00:00Z, now, now+PT1H",
               .kind = ArgumentKind::time},
              {.names = "--slot", .field = "slot.config",
               .help = "Take the first free slot of this config, instead of --at",
               .value_name = "CONFIG"},
              {.names = "--slot-at", .field = "slot.requestedTime",
               .help = "The earliest slot that is wanted; without it, now",
               .kind = ArgumentKind::time},
              {.names = "--context", .field = "context",
               .help = "Handed over with it: JSON text, @FILE, or - for standard input",
               .kind = ArgumentKind::json}},
          .view = {.lines = {{"type", "itemType"}, {"item", "itemId"}, {"status", "status"},
                             {"scheduled", "scheduledTime", instant}}}};
}

// --- Item types ---

Argument whole_number(std::string_view names, std::string_view field, std::string_view value_name,
                      std::int64_t min, std::int64_t max, std::string_view help) {
  return {.names = std::string(names), .field = std::string(field), .help = std::string(help),
          .kind = ArgumentKind::integer, .value_name = std::string(value_name),
          .min = min, .max = max, .nullable = field == "maxPerSecond" || field == "burst"};
}

std::vector<Argument> settings() {
  return {
      {.names = "--sink", .field = "sink",
       .help = "Where items go: JSON text, @FILE, or - for standard input",
       .kind = ArgumentKind::json},
      {.names = "--enabled", .field = "enabled", .help = "false is the kill switch",
       .kind = ArgumentKind::boolean},
      whole_number("--max-per-second", "maxPerSecond", "COUNT", 1, 1'000'000,
                   "Hand-overs in any sliding second, over all nodes; none = no pace"),
      whole_number("--burst", "burst", "COUNT", 1, 1'000'000,
                   "Hand-overs back to back, within that pace; none = a tenth of it"),
      whole_number("--max-dispatch-retries", "maxDispatchRetries", "COUNT", 1, 1'000,
                   "Attempts that may fail until the item is dead"),
      whole_number("--retry-backoff-ms", "retryBackoffMs", "MILLIS", 0, 86'400'000,
                   "Wait after the first failed attempt; doubles"),
      whole_number("--retry-backoff-max-ms", "retryBackoffMaxMs", "MILLIS", 0, 86'400'000,
                   "The most that it becomes"),
      whole_number("--jitter-window-ms", "jitterWindowMs", "MILLIS", 0, 3'600'000,
                   "Items that want one instant are spread over this time"),
      whole_number("--batch-size", "batchSize", "COUNT", 1, 5'000,
                   "Items in one claim; does not cap the pace"),
      whole_number("--dispatch-interval-secs", "dispatchIntervalSecs", "SECONDS", 1, 3'600,
                   "How often it looks at least"),
      whole_number("--pre-start-buffer-mins", "preStartBufferMins", "MINUTES", 0, 1'440,
                   "How early an item may be claimed"),
      whole_number("--stale-claim-threshold-mins", "staleClaimThresholdMins", "MINUTES", 1, 1'440,
                   "A claim that was never settled is taken again after this time"),
      whole_number("--max-pause-secs", "maxPauseSecs", "SECONDS", 1, 86'400,
                   "A sink that says \"slow down\" is believed for at most so long")};
}

View type_lines() {
  return {.lines = {{"type", "itemType"}, {"enabled", "enabled", yes_no},
                    {"pace", "maxPerSecond", per_second}, {"burst", "burst", count},
                    {"sink", "sink", json}, {"attempts", "maxDispatchRetries", count},
                    {"backoff", "retryBackoffMs", millis},
                    {"backoff at most", "retryBackoffMaxMs", millis},
                    {"spread", "jitterWindowMs", millis}, {"claims of", "batchSize", count},
                    {"looks every", "dispatchIntervalSecs", seconds},
                    {"claimed early by", "preStartBufferMins", minutes},
                    {"stale after", "staleClaimThresholdMins", minutes},
                    {"pause at most", "maxPauseSecs", seconds}, {"version", "version", count},
                    {"changed", "changedAt", instant}}};
}

// The kill switch, both ways.
Call enable(bool on) {
  return {.name = on ? "enable" : "disable", .route = &route("patchItemType"),
          .about = on ? "Hand over items of a type again."
                      : "The kill switch: hand-overs of a type stop within a second on every node.",
          .note = on ? "" : "Items are kept and taken as before.",
          .examples = {on ? "penstock types enable ORDER" : "penstock types disable ORDER"},
          .body_members = on ? R"("enabled":true)" : R"("enabled":false)",
          .view = type_lines()};
}

}  // namespace

CallGroup dispatch_calls() {
  return {.words = "dispatch",
          .description = "Schedule items, look at them, cancel and redrive them.",
          .calls = {
      enqueue(),
      {.name = "batch", .route = &route("enqueueItems"),
       .about = "Schedule up to 10,000 items in one call.",
       .examples = {"penstock dispatch batch ORDER orders.ndjson",
                    "echo '[{\"itemId\": \"o-1\", \"scheduledTime\": "
                    "\"2030-01-01T12:00:00Z\"}]' | penstock dispatch batch ORDER -"},
       .body = BodySource::file,
       .view = {.rows = "results",
                .columns = {{"item", "itemId"}, {"answer", "status"}, {"state", "state"},
                            {"scheduled", "scheduledTime", instant}, {"error", "message"}},
                .none = "no entries"}},
      {.name = "get", .route = &route("getItem"),
       .examples = {"penstock dispatch get ORDER o-1"},
       .view = item_view()},
      {.name = "list", .route = &route("listDeadItems"),
       .note = "The newest first: those that ran out of attempts. `redrive` tries one again.",
       .examples = {"penstock dispatch list ORDER", "penstock dispatch list ORDER --all --json"},
       .query = "status=DEAD",
       .paged = true,
       .view = {.rows = ".",
                .columns = {{"item", "itemId"}, {"died", "diedAt", instant},
                            {"scheduled", "scheduledTime", instant},
                            {"attempts", "attempts", count}, {"last error", "lastError"}},
                .none = "no dead items"}},
      {.name = "summary", .route = &route("summarizeItems"),
       .note = "And when it will be empty.",
       .examples = {"penstock dispatch summary ORDER"},
       .view = {.lines = {{"type", "itemType"}, {"ready", "counts.READY", count},
                          {"claimed", "counts.CLAIMED", count},
                          {"dispatched", "counts.DISPATCHED", count},
                          {"dead", "counts.DEAD", count},
                          {"cancelled", "counts.CANCELLED", count},
                          {"oldest due", "oldestDue", instant},
                          {"empty in", "predictedDrainSeconds", seconds},
                          {"paused until", "pausedUntil", instant},
                          {"handed over by", "leaseHolder"}}}},
      {.name = "cancel", .route = &route("cancelItem"),
       .note = "It must still wait; a slot that it has is free again.",
       .examples = {"penstock dispatch cancel ORDER o-1"},
       .view = {.done = "cancelled {itemId}"}},
      {.name = "redrive", .route = &route("redriveItem"),
       .note = "It is due at once, with no attempt used.",
       .examples = {"penstock dispatch redrive ORDER o-1"},
       .view = item_view()}}};
}

CallGroup item_type_calls() {
  return {.words = "types",
          .description = "Read and change the item types of dispatch (needs the admin token).",
          .calls = {
      {.name = "list", .route = &route("listItemTypes"),
       .note = "In the order of their names.",
       .examples = {"penstock types list", "penstock types list --all --json"},
       .paged = true,
       .view = {.rows = ".",
                .columns = {{"type", "itemType"}, {"enabled", "enabled", yes_no},
                            {"pace", "maxPerSecond", per_second},
                            {"attempts", "maxDispatchRetries", count}, {"sink", "sink.type"},
                            {"to", "sink.url|sink.topic|sink.workflowType|sink.host"},
                            {"version", "version", count}, {"changed", "changedAt", instant}},
                .none = "no types yet: penstock types put makes one"}},
      {.name = "get", .route = &route("getItemType"),
       .note = "Of secrets only how many there are.",
       .examples = {"penstock types get ORDER"},
       .view = type_lines()},
      {.name = "put", .route = &route("putItemType"),
       .note = "What is not given gets its default. Every node follows within a second.",
       .examples = {"penstock types put ORDER --max-per-second 50 --sink '{\"type\": \"http\", "
                    "\"url\": \"http://127.0.0.1:9090/orders\"}'",
                    "penstock types put REPORT --enabled false",
                    "penstock types put ORDER --body @order-type.json"},
       .arguments = settings(),
       .body = BodySource::whole,
       .view = type_lines()},
      {.name = "patch", .route = &route("patchItemType"),
       .note = "What is not given stays.",
       .examples = {"penstock types patch ORDER --max-per-second 10",
                    "penstock types patch ORDER --max-per-second none",
                    "penstock types patch ORDER --sink @sink.json"},
       .arguments = settings(),
       .body = BodySource::whole,
       .view = type_lines()},
      enable(true),
      enable(false),
      {.name = "history", .route = &route("getItemTypeHistory"),
       .note = "The newest first.",
       .examples = {"penstock types history ORDER", "penstock types history ORDER --json"},
       .view = {.rows = ".",
                .columns = {{"at", "at", instant}, {"enabled", "new.enabled", yes_no},
                            {"pace", "new.maxPerSecond", per_second},
                            {"pace before", "old.maxPerSecond", per_second},
                            {"attempts", "new.maxDispatchRetries", count},
                            {"sink", "new.sink.type"},
                            {"to", "new.sink.url|new.sink.topic|new.sink.workflowType|"
                                   "new.sink.host"}},
                .none = "no changes"}}}};
}
// clang-format on

}  // namespace penstock::tool
