#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

const Argument kEvent{.names = "EVENT_ID",
                      .field = "eventId",
                      .help = "The event",
                      .place = Place::path,
                      .required = true};

const View& slot_lines() {
  static const View view{.lines = {{"event", "eventId"},
                                   {"status", "status"},
                                   {"scheduled", "scheduledTime", Form::instant},
                                   {"delay", "delayMs", Form::millis},
                                   {"window", "windowStart", Form::instant},
                                   {"config", "configName"},
                                   {"config version", "configVersion", Form::count},
                                   {"asked for", "requestedTime", Form::instant},
                                   {"confirm by", "confirmBy", Form::instant},
                                   {"created", "createdAt", Form::instant}}};
  return view;
}

Call confirm() {
  return {.name = "confirm",
          .method = "POST",
          .path = "/api/v1/slots/{eventId}/confirm",
          .description =
              "Confirm a slot that was assigned with a --ttl, so that it stays.\n"
              "Again is fine.",
          .examples = {"penstock slots confirm order-1"},
          .arguments = {kEvent},
          .view = slot_lines()};
}

Call release() {
  return {
      .name = "release",
      .method = "DELETE",
      .path = "/api/v1/slots/{eventId}",
      .description = "Give a slot back whose window has not begun; its place is free for others.",
      .examples = {"penstock slots release order-1"},
      .arguments = {kEvent},
      .view = {.done = "released {eventId}"}};
}

Call preview() {
  return {.name = "preview",
          .method = "POST",
          .path = "/api/v1/slots/preview",
          .description = "Show where so many events would land if they asked now; assigns nothing.",
          .examples = {"penstock slots preview 1000",
                       "penstock slots preview 50000 --config payments --at now+PT1H"},
          .arguments = {{.names = "COUNT",
                         .field = "count",
                         .help = "How many events",
                         .kind = ArgumentKind::integer,
                         .required = true,
                         .min = 1,
                         .max = 1'000'000'000},
                        {.names = "--config",
                         .field = "configName",
                         .help = "Config whose windows are used; without it, the daemon's default",
                         .value_name = "NAME"},
                        {.names = "--at",
                         .field = "requestedTime",
                         .help = "Requested time: 2025-06-01T12:00:00Z, now, now+PT1H",
                         .kind = ArgumentKind::time,
                         .fallback = "now"}},
          .view = {.lines = {{"placed", "placed", Form::count},
                             {"windows used", "windowsUsed", Form::count},
                             {"first", "firstScheduledTime", Form::instant},
                             {"last", "lastScheduledTime", Form::instant}}}};
}

Call slot_batch() {
  return {.name = "batch",
          .method = "POST",
          .path = "/api/v1/slots/batch",
          .description =
              "Assign slots to up to 10,000 events in one call.\n"
              "For larger files, with progress and retries: penstock slots import.",
          .examples = {"penstock slots batch events.json",
                       "echo '{\"eventId\": \"order-1\", \"requestedTime\": "
                       "\"2030-01-01T12:00:00Z\"}' | penstock slots batch - --json"},
          .body = BodySource::entries,
          .view = {.rows = "results",
                   .columns = {{"event", "eventId"},
                               {"scheduled", "scheduledTime", Form::instant},
                               {"delay", "delayMs", Form::millis},
                               {"config", "configName"},
                               {"error", "message"}},
                   .none = "no entries"}};
}

}  // namespace

std::span<const Call> slot_calls() {
  static const std::vector<Call> calls{slot_batch(), confirm(), release(), preview()};
  return calls;
}

std::span<const Call> slot_config_calls() {
  static const std::vector<Call> calls{
      {.name = "list",
       .method = "GET",
       .path = "/admin/rate-limit/configs",
       .description = "List the active version of every config.",
       .examples = {"penstock config list", "penstock config list --all --json"},
       .paged = true,
       .view = {.rows = ".",
                .columns = {{"config", "configName"},
                            {"version", "version", Form::count},
                            {"max/window", "maxPerWindow", Form::count},
                            {"window", "windowSize", Form::duration},
                            {"pool", "pool"},
                            {"since", "effectiveFrom", Form::instant}},
                .none = "no configs yet: penstock config set makes one"}},
      {.name = "flush",
       .method = "POST",
       .path = "/admin/rate-limit/cache/flush",
       .description = "Make every node forget the configs that it has cached.",
       .examples = {"penstock config flush"},
       .view = {.done = "the cached configs are forgotten"}}};
  return calls;
}

}  // namespace penstock::tool
