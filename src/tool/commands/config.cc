#include <memory>

#include "cli/client_options.h"
#include "core/slots/slot_config.h"
#include "tool/calls/call_command.h"
#include "tool/calls/calls.h"
#include "tool/commands/commands.h"
#include "tool/commands/views.h"

namespace penstock::tool {
namespace {

constexpr const char* kConfigRoute = "/admin/rate-limit/config";

struct NameArguments {
  cli::ClientOptions client;
  std::string name = "default";
};

struct SetArguments {
  cli::ClientOptions client;
  std::string name;
  std::int64_t max_per_window = 0;
  std::string window;
  std::string pool;
};

// `get` and `history`: a name in, configs out.
void add_reader(cli::Command config, const std::string& verb, const std::string& description,
                const std::string& route) {
  cli::Command command =
      config.add(verb, description,
                 {"penstock config " + verb, "penstock config " + verb + " payments --json"});
  const auto arguments = std::make_shared<NameArguments>();
  command.option({.names = "NAME", .help = "The config"}, arguments->name);
  cli::add_client_options(command, arguments->client);
  command.calls("GET", route);
  command.action([arguments, route] {
    const http::HttpCall call{.target = route + "?name=" + http::percent_encoded(arguments->name)};
    return cli::call_and_print(arguments->client, call, configs_view);
  });
}

void add_set(cli::Command config) {
  cli::Command command = config.add(
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
  cli::add_client_options(command, arguments->client);
  command.calls("POST", kConfigRoute);
  command.action([arguments] {
    wire::JsonWriter body;
    body.begin_object()
        .member("configName", arguments->name)
        .member("maxPerWindow", arguments->max_per_window)
        .member("windowSize", arguments->window);
    if (!arguments->pool.empty()) body.member("pool", arguments->pool);
    body.end_object();
    const http::HttpCall call{
        .method = "POST", .target = kConfigRoute, .body = std::move(body).take()};
    return cli::call_and_print(arguments->client, call, configs_view);
  });
}

}  // namespace

void add_config(cli::Command root) {
  cli::Command config =
      root.add("config",
               "Read and change the slot configs of a running daemon (needs the admin token).", {});
  add_reader(config, "get", "Print the active version of a config.", kConfigRoute);
  add_set(config);
  add_reader(config, "history", "Print all versions of a config, newest first.",
             std::string(kConfigRoute) + "/history");
  add_calls(config, slot_config_calls());
}

}  // namespace penstock::tool
