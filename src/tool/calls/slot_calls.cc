#include "tool/calls/call.h"

namespace penstock::tool {
namespace {

using enum Form;
using wire::route;

// clang-format off
View slot_lines() {
  return {.lines = {{"event", "eventId"}, {"status", "status"},
                    {"scheduled", "scheduledTime", instant}, {"delay", "delayMs", millis},
                    {"window", "windowStart", instant}, {"config", "configName"},
                    {"config version", "configVersion", count},
                    {"asked for", "requestedTime", instant}, {"confirm by", "confirmBy", instant},
                    {"created", "createdAt", instant}}};
}

Argument config_option(Place place, std::string_view field) {
  return {.names = "--config",
          .field = std::string(field),
          .help = "Config whose windows are used; without it, the daemon's default",
          .place = place,
          .value_name = "NAME"};
}

Argument at_option() {
  return {.names = "--at",
          .field = "requestedTime",
          .help = "Requested time: 2025-06-01T12:00:00Z, now, now+PT1H",
          .kind = ArgumentKind::time,
          .fallback = "now"};
}

Argument config_name(Place place, bool required) {
  return {.names = "NAME",
          .field = place == Place::query ? "name" : "configName",
          .help = "The config",
          .place = place,
          .required = required,
          .fallback = required ? "" : "default"};
}

Call assign() {
  return {.name = "assign", .route = &route("assignSlot"),
          .about = "Give one event the earliest slot with room, and print it.",
          .note = "An event that has a slot keeps it: asking again gives the same answer.",
          .examples = {"penstock slots assign order-1",
                       "penstock slots assign order-2 --config payments --at 2025-06-01T12:00:00Z",
                       "penstock slots assign order-3 --at now+PT10M --max-delay PT1H --json"},
          .arguments = {{.names = "EVENT_ID", .field = "eventId",
                         .help = "1 to 128 printable characters", .required = true},
                        config_option(Place::body, "configName"),
                        at_option(),
                        {.names = "--max-delay", .field = "maxDelay",
                         .help = "Latest start after the requested time (PT30S, P1D); without it, "
                                 "the daemon's slots.max-delay",
                         .value_name = "DURATION"},
                        {.names = "--ttl", .field = "ttl",
                         .help = "Must be confirmed within this time (slots confirm), or the slot "
                                 "expires; without it, never",
                         .value_name = "DURATION"}},
          .view = {.words = slot_view}};
}

Call preview() {
  return {.name = "preview", .route = &route("previewSlots"),
          .about = "Show where so many events would land if they asked now; assigns nothing.",
          .examples = {"penstock slots preview 1000",
                       "penstock slots preview 50000 --config payments --at now+PT1H"},
          .arguments = {{.names = "COUNT", .field = "count", .help = "How many events",
                         .kind = ArgumentKind::integer, .required = true, .min = 1,
                         .max = 1'000'000'000},
                        config_option(Place::body, "configName"),
                        at_option()},
          .view = {.lines = {{"placed", "placed", count}, {"windows used", "windowsUsed", count},
                             {"first", "firstScheduledTime", instant},
                             {"last", "lastScheduledTime", instant}}}};
}

Call slot_batch() {
  return {.name = "batch", .route = &route("assignSlots"),
          .about = "Assign slots to up to 10,000 events in one call.",
          .note = "For larger files, with progress and retries: penstock slots import.",
          .examples = {"penstock slots batch events.json",
                       "echo '{\"eventId\": \"order-1\", \"requestedTime\": "
                       "\"2030-01-01T12:00:00Z\"}' | penstock slots batch - --json"},
          .body = BodySource::file,
          .view = {.rows = "results",
                   .columns = {{"event", "eventId"}, {"scheduled", "scheduledTime", instant},
                               {"delay", "delayMs", millis}, {"config", "configName"},
                               {"error", "message"}},
                   .none = "no entries"}};
}

Call patch_config() {
  return {.name = "patch", .route = &route("changeSlotConfig"),
          .note = "What is not given stays.",
          .examples = {"penstock config patch payments --max-per-window 800"},
          .arguments = {config_name(Place::query, true),
                        {.names = "--max-per-window", .field = "maxPerWindow",
                         .help = "Events that one window may hold", .kind = ArgumentKind::integer,
                         .min = 1, .max = 10'000'000},
                        {.names = "--window", .field = "windowSize",
                         .help = "Size of a window, PT0.001S to P1D: PT4S, PT1M",
                         .value_name = "DURATION"},
                        {.names = "--pool", .field = "pool",
                         .help = "Configs of one pool share its windows", .value_name = "NAME"}},
          .view = {.words = configs_view}};
}

Call set_config() {
  return {.name = "set", .route = &route("putSlotConfig"),
          .about = "Set how many events each window of a config may hold; makes it when it does "
                   "not exist.",
          .note = "Adds a version; what is assigned already stays where it is.",
          .examples = {"penstock config set default --max-per-window 100 --window PT4S",
                       "penstock config set payments --max-per-window 500 --window PT1M --pool "
                       "bank-a"},
          .arguments = {config_name(Place::body, true),
                        {.names = "--max-per-window", .field = "maxPerWindow",
                         .help = "Events that one window may hold", .kind = ArgumentKind::integer,
                         .required = true, .min = 1, .max = 10'000'000},
                        {.names = "--window", .field = "windowSize",
                         .help = "Size of a window, PT0.001S to P1D: PT4S, PT1M",
                         .value_name = "DURATION", .required = true},
                        {.names = "--pool", .field = "pool",
                         .help = "Configs of one pool share its windows; without it, the config's "
                                 "own name",
                         .value_name = "NAME"}},
          .view = {.words = configs_view}};
}

}  // namespace

CallGroup slot_calls() {
  return {.words = "slots",
          .description = "Assign slots, look them up, give them back, import files of events.",
          .calls = {assign(),
                    {.name = "get", .route = &route("getSlot"),
                     .examples = {"penstock slots get order-1", "penstock slots get order-1 --json"},
                     .view = {.words = slot_view}},
                    slot_batch(),
                    {.name = "confirm", .route = &route("confirmSlot"),
                     .note = "One that was assigned with a --ttl then stays. Again is fine.",
                     .examples = {"penstock slots confirm order-1"},
                     .view = slot_lines()},
                    {.name = "release", .route = &route("releaseSlot"),
                     .note = "Its window must not have begun; its place is free for others.",
                     .examples = {"penstock slots release order-1"},
                     .view = {.done = "released {eventId}"}},
                    preview()}};
}

CallGroup window_calls() {
  return {.calls = {
      {.name = "windows", .route = &route("listWindows"),
       .about = "Show how full the windows of a config are, used ones only.",
       .examples = {"penstock windows",
                    "penstock windows --config payments --from now-PT5M --to now+PT5M",
                    "penstock windows --from 2025-06-01T12:00:00Z --to 2025-06-01T13:00:00Z --json"},
       .arguments = {config_option(Place::query, "config"),
                     // The current window began a moment ago.
                     {.names = "--from", .field = "from",
                      .help = "First window start: 2025-06-01T12:00:00Z, now, now-PT5M",
                      .kind = ArgumentKind::time, .place = Place::query, .fallback = "now-PT1M"},
                     {.names = "--to", .field = "to", .help = "End, not included",
                      .kind = ArgumentKind::time, .place = Place::query, .fallback = "now+PT1H"}},
       .view = {.words = windows_view}}}};
}

CallGroup slot_config_calls() {
  return {.words = "config",
          .description = "Read and change the slot configs of a running daemon (needs the admin "
                         "token).",
          .calls = {{.name = "get", .route = &route("getSlotConfig"),
                     .note = "Of its versions, the active one.",
                     .examples = {"penstock config get", "penstock config get payments --json"},
                     .arguments = {config_name(Place::query, false)},
                     .view = {.words = configs_view}},
                    set_config(),
                    patch_config(),
                    {.name = "history", .route = &route("getSlotConfigHistory"),
                     .note = "The newest first.",
                     .examples = {"penstock config history",
                                  "penstock config history payments --json"},
                     .arguments = {config_name(Place::query, false)},
                     .view = {.words = configs_view}},
                    {.name = "list", .route = &route("listSlotConfigs"),
                     .note = "The active version of each.",
                     .examples = {"penstock config list", "penstock config list --all --json"},
                     .paged = true,
                     .view = {.rows = ".",
                              .columns = {{"config", "configName"}, {"version", "version", count},
                                          {"max/window", "maxPerWindow", count},
                                          {"window", "windowSize", duration}, {"pool", "pool"},
                                          {"since", "effectiveFrom", instant}},
                              .none = "no configs yet: penstock config set makes one"}},
                    {.name = "flush", .route = &route("flushSlotConfigs"),
                     .note = "On every node.",
                     .examples = {"penstock config flush"},
                     .view = {.done = "the cached configs are forgotten"}}}};
}
// clang-format on

}  // namespace penstock::tool
