#include <memory>

#include "base/iso8601.h"
#include "cli/client_options.h"
#include "cli/time_argument.h"
#include "runtime/clocks.h"
#include "tool/calls/call_command.h"
#include "tool/calls/calls.h"
#include "tool/commands/commands.h"
#include "tool/commands/views.h"

namespace penstock::tool {
namespace {

struct AssignArguments {
  cli::ClientOptions client;
  std::string event_id;
  std::string config;
  std::string at = "now";
  std::string max_delay;
  std::string ttl;
};

http::HttpCall assign_call(const AssignArguments& arguments) {
  wire::JsonWriter body;
  body.begin_object().member("eventId", arguments.event_id);
  if (!arguments.config.empty()) body.member("configName", arguments.config);
  const Result<Instant> at = cli::parse_time_argument(arguments.at, runtime::SystemClock().now());
  body.key("requestedTime");
  if (at) {
    body.value(*at);
  } else {
    body.value(std::string_view(arguments.at));  // checked before; the daemon says what is wrong
  }
  if (!arguments.max_delay.empty()) body.member("maxDelay", arguments.max_delay);
  if (!arguments.ttl.empty()) body.member("ttl", arguments.ttl);
  body.end_object();
  return {.method = "POST", .target = "/api/v1/slots", .body = std::move(body).take()};
}

void add_assign(cli::Command slots) {
  cli::Command command =
      slots.add("assign",
                "Give one event the earliest slot with room, and print it.\n"
                "An event that has a slot keeps it: asking again gives the same answer.",
                {"penstock slots assign order-1",
                 "penstock slots assign order-2 --config payments --at 2025-06-01T12:00:00Z",
                 "penstock slots assign order-3 --at now+PT10M --max-delay PT1H --json"});
  const auto arguments = std::make_shared<AssignArguments>();
  command.option({.names = "EVENT_ID", .help = "1 to 128 printable characters", .required = true},
                 arguments->event_id);
  command.option({.names = "--config",
                  .value_name = "NAME",
                  .help = "Config whose windows are used; without it, the daemon's default"},
                 arguments->config);
  command.option({.names = "--at",
                  .value_name = "TIME",
                  .help = "Requested time: 2025-06-01T12:00:00Z, now, now+PT1H",
                  .check = [](const std::string& text) -> Result<void> {
                    const auto at = cli::parse_time_argument(text, runtime::SystemClock().now());
                    if (!at) return std::unexpected(at.error());
                    return {};
                  }},
                 arguments->at);
  command.option({.names = "--max-delay",
                  .value_name = "DURATION",
                  .help = "Latest start after the requested time (PT30S, P1D); without it, the "
                          "daemon's slots.max-delay"},
                 arguments->max_delay);
  command.option({.names = "--ttl",
                  .value_name = "DURATION",
                  .help = "Must be confirmed within this time (slots confirm), or the slot "
                          "expires; without it, never"},
                 arguments->ttl);
  cli::add_client_options(command, arguments->client);
  command.calls("POST", "/api/v1/slots");
  command.action([arguments] {
    return cli::call_and_print(arguments->client, assign_call(*arguments), slot_view);
  });
}

void add_get_slot(cli::Command slots) {
  cli::Command command =
      slots.add("get", "Print the slot that an event holds.",
                {"penstock slots get order-1", "penstock slots get order-1 --json"});
  struct SlotsArguments {
    cli::ClientOptions client;
    std::string event_id;
  };
  const auto arguments = std::make_shared<SlotsArguments>();
  command.option({.names = "EVENT_ID", .help = "The event", .required = true}, arguments->event_id);
  cli::add_client_options(command, arguments->client);
  command.calls("GET", "/api/v1/slots/{eventId}");
  command.action([arguments] {
    const http::HttpCall call{.target =
                                  "/api/v1/slots/" + http::percent_encoded(arguments->event_id)};
    return cli::call_and_print(arguments->client, call, slot_view);
  });
}

}  // namespace

cli::Command add_slots(cli::Command root) {
  cli::Command slots =
      root.add("slots", "Assign slots, look them up, give them back, import files of events.", {});
  add_assign(slots);
  add_get_slot(slots);
  add_calls(slots, slot_calls());
  add_slots_import(slots);
  return slots;
}

}  // namespace penstock::tool
