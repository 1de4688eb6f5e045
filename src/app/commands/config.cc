#include <memory>

#include "app/calls/call_command.h"
#include "app/calls/calls.h"
#include "app/commands/client_options.h"
#include "app/commands/commands.h"
#include "app/commands/views.h"
#include "core/slots/slot_config.h"

namespace penstock::app {
namespace {

constexpr const char* kConfigRoute = "/admin/rate-limit/config";

struct NameArguments {
  ClientOptions client;
  std::string name = "default";
};

struct SetArguments {
  ClientOptions client;
  std::string name;
  std::int64_t max_per_window = 0;
  std::string window;
  std::string pool;
};

// `get` and `history`: a name in, configs out.
void add_reader(Command config, const std::string& verb, const std::string& description,
                const std::string& route) {
  Command command =
      config.add(verb, description,
                 {"penstock config " + verb, "penstock config " + verb + " payments --json"});
  const auto arguments = std::make_shared<NameArguments>();
  command.option({.names = "NAME", .help = "The config"}, arguments->name);
  add_client_options(command, arguments->client);
  command.calls("GET", route);
  command.action([arguments, route] {
    const HttpCall call{.target = route + "?name=" + percent_encoded(arguments->name)};
    return call_and_print(arguments->client, call, configs_view);
  });
}

void add_set(Command config) {
  Command command = config.add(
      "set",
      "Set how many events each window of a config may hold; makes it when it does not exist.\n"
      "Adds a version; what is assigned already stays where it is.",
      {"penstock config set default --max-per-window 100 --window PT4S",
       "penstock config set payments --max-per-window 500 --window PT1M --pool bank-a"});
  const auto arguments = std::make_shared<SetArguments>();
  command.option({.names = "NAME", .help = "The config", .required = true}, arguments->name);
  command.number({.names = "--max-per-window",
                  .value_name = "COUNT",
                  .help = "Events that one window may hold",
                  .required = true},
                 arguments->max_per_window, core::kMaxPerWindowMin, core::kMaxPerWindowMax);
  command.option({.names = "--window",
                  .value_name = "DURATION",
                  .help = "Size of a window, PT0.001S to P1D: PT4S, PT1M",
                  .required = true},
                 arguments->window);
  command.option(
      {.names = "--pool",
       .value_name = "NAME",
       .help = "Configs of one pool share its windows; without it, the config's own name"},
      arguments->pool);
  add_client_options(command, arguments->client);
  command.calls("POST", kConfigRoute);
  command.action([arguments] {
    wire::JsonWriter body;
    body.begin_object()
        .member("configName", arguments->name)
        .member("maxPerWindow", arguments->max_per_window)
        .member("windowSize", arguments->window);
    if (!arguments->pool.empty()) body.member("pool", arguments->pool);
    body.end_object();
    const HttpCall call{.method = "POST", .target = kConfigRoute, .body = std::move(body).take()};
    return call_and_print(arguments->client, call, configs_view);
  });
}

}  // namespace

void add_config(Command root) {
  Command config =
      root.add("config",
               "Read and change the slot configs of a running daemon (needs the admin token).", {});
  add_reader(config, "get", "Print the active version of a config.", kConfigRoute);
  add_set(config);
  add_reader(config, "history", "Print all versions of a config, newest first.",
             std::string(kConfigRoute) + "/history");
  add_calls(config, slot_config_calls());
}

}  // namespace penstock::app
