// What the program tells of itself: completion for shells, its man page, its commands.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/iso8601.h"
#include "cli/completion.h"
#include "cli/exit_code.h"
#include "cli/man_page.h"
#include "cli/table.h"
#include "runtime/clocks.h"
#include "tool/commands/commands.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

// SOURCE_DATE_EPOCH makes a build reproducible: what is built twice is the same byte by byte.
std::string date_of_man_page() {
  Instant at = runtime::SystemClock().now();
  if (const char* text = std::getenv("SOURCE_DATE_EPOCH"); text != nullptr) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), seconds);
    constexpr std::int64_t kSecondsMax = 9'000'000'000;  // in the year 2255
    if (error == std::errc() && *end == '\0' && seconds >= 0 && seconds <= kSecondsMax) {
      at = Instant{} + Seconds{seconds};
    }
  }
  return format_instant(at).substr(0, std::strlen("2025-06-01"));
}

void add_completion(cli::Command root, const cli::CommandNode& tree) {
  cli::Command command =
      root.add("completion",
               "Print the script that lets a shell complete commands, options and values.\n"
               "bash: source it in ~/.bashrc, or put it in "
               "/usr/share/bash-completion/completions/penstock.\n"
               "zsh: put it as _penstock in a folder of $fpath. fish: put it in "
               "~/.config/fish/completions/penstock.fish.",
               {"source <(penstock completion bash)",
                "penstock completion zsh > ~/.zsh/completions/_penstock",
                "penstock completion fish > ~/.config/fish/completions/penstock.fish"});
  const auto shell = std::make_shared<std::string>();
  command.option({.names = "SHELL",
                  .value_name = "bash|zsh|fish",
                  .help = "The shell",
                  .required = true,
                  .check = cli::one_of("bash|zsh|fish")},
                 *shell);
  command.action([shell, &tree] {
    fmt::print("{}", *shell == "bash"  ? cli::bash_completion(tree)
                     : *shell == "zsh" ? cli::zsh_completion(tree)
                                       : cli::fish_completion(tree));
    return static_cast<int>(cli::kExitOk);
  });
}

void add_man(cli::Command root, const cli::CommandNode& tree) {
  cli::Command command = root.add("man", "Print the manual page penstock(1), as roff.",
                                  {"penstock man | man -l -", "penstock man > penstock.1"});
  command.action([&tree] {
    fmt::print("{}",
               cli::man_page(tree, {.version = PENSTOCK_VERSION, .date = date_of_man_page()}));
    return static_cast<int>(cli::kExitOk);
  });
}

void write_option(wire::JsonWriter& out, const cli::OptionNode& option) {
  out.begin_object().key("names").begin_array();
  for (const std::string& name : option.names) out.value(std::string_view(name));
  out.end_array()
      .member("value", option.value_name)
      .member("help", option.help)
      .member("default", option.fallback)
      .member("environment", option.environment)
      .member("required", option.required)
      .member("repeated", option.repeated)
      .member("positional", option.positional);
  out.key("choices").begin_array();
  for (const std::string& choice : option.choices()) out.value(std::string_view(choice));
  out.end_array().end_object();
}

void write_command(wire::JsonWriter& out, const std::string& path,
                   const cli::CommandNode& command) {
  out.begin_object()
      .member("command", path)
      .member("description", command.description)
      .member("runs", command.runs);
  out.key("examples").begin_array();
  for (const std::string& example : command.examples) out.value(std::string_view(example));
  out.end_array().key("options").begin_array();
  for (const cli::OptionNode& option : command.options) write_option(out, option);
  out.end_array().key("routes").begin_array();
  for (const cli::RouteNode& route : command.routes) {
    out.begin_object().member("method", route.method).member("path", route.path).end_object();
  }
  out.end_array().end_object();
}

std::string commands_json(const cli::CommandNode& tree) {
  wire::JsonWriter out;
  out.begin_object().key("commands").begin_array();
  cli::each_command(tree, [&](const std::string& path, const cli::CommandNode& command) {
    write_command(out, path, command);
  });
  out.end_array().key("exitCodes").begin_array();
  for (const cli::ExitMeaning& each : cli::kExitMeanings) {
    out.begin_object()
        .member("code", static_cast<std::int64_t>(each.code))
        .member("meaning", each.meaning)
        .end_object();
  }
  out.end_array().end_object();
  return std::move(out).take();
}

void print_commands(const cli::CommandNode& tree) {
  std::vector<cli::Row> rows;
  cli::each_command(tree, [&](const std::string& path, const cli::CommandNode& command) {
    if (!command.runs) return;
    const std::string route =
        command.routes.empty() ? ""
                               : command.routes.front().method + " " + command.routes.front().path;
    rows.push_back({path, route, command.summary()});
  });
  cli::Table table({{"command"}, {"calls"}, {"what it does"}});
  table.fit(rows);
  fmt::print("{}", table.header());
  for (const cli::Row& row : rows) fmt::print("{}", table.line(row));
}

void add_commands(cli::Command root, const cli::CommandNode& tree) {
  cli::Command command =
      root.add("commands", "List all commands, and the routes of the daemon that they call.",
               {"penstock commands", "penstock commands --json"});
  const auto json = std::make_shared<bool>(false);
  command.flag("--json", "Everything that --help knows, as one JSON object", *json);
  command.action([json, &tree] {
    if (*json) {
      fmt::print("{}\n", commands_json(tree));
    } else {
      print_commands(tree);
    }
    return static_cast<int>(cli::kExitOk);
  });
}

}  // namespace

void add_self_description(cli::Command root, const cli::CommandNode& tree) {
  add_commands(root, tree);
  add_completion(root, tree);
  add_man(root, tree);
}

}  // namespace penstock::tool
