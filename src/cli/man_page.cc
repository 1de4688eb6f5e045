#include "cli/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "cli/exit_code.h"

namespace penstock::cli {
namespace {

constexpr std::size_t kSharedBy = 10;  // options of so many commands are told once

// Everything that a reader would see of an option; equal options are told once.
std::string option_key(const OptionNode& option) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", fmt::join(option.names, ","), option.value_name,
                     option.help, option.fallback, option.environment);
}

std::set<std::string> shared_options(const CommandNode& root) {
  std::map<std::string, std::size_t> counts;
  each_command(root, [&](const std::string&, const CommandNode& command) {
    for (const OptionNode& option : command.options) ++counts[option_key(option)];
  });
  std::set<std::string> shared;
  for (const auto& [key, count] : counts) {
    if (count >= kSharedBy) shared.insert(key);
  }
  return shared;
}

std::string bold(const std::string& text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string option_entry(const OptionNode& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(option.positional ? italic(name) : bold(name));
  }
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value_name.empty()) head += " " + italic(option.value_name);
  std::string text = fmt::format(".TP\n{}\n{}", head, roff_text(option.help));
  if (!text.ends_with('.')) text += '.';
  if (option.required) text += " Required.";
  if (!option.fallback.empty()) text += " Default: " + roff_text(option.fallback) + ".";
  if (!option.environment.empty()) text += " Or by " + bold(option.environment) + ".";
  return text + "\n";
}

std::string usage(const std::string& path, const CommandNode& command) {
  std::string text = bold(path);
  const bool options = std::ranges::any_of(
      command.options, [](const OptionNode& option) { return !option.positional; });
  for (const OptionNode& option : command.options) {
    if (!option.positional) continue;
    const std::string name = italic(option.names.front()) + (option.repeated ? "..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return options ? text + " [" + italic("OPTIONS") + "]" : text;
}

std::string example_lines(const std::vector<std::string>& examples) {
  std::string text = ".PP\n.EX\n";
  for (const std::string& example : examples) text += "  " + roff_text(example) + "\n";
  return text + ".EE\n";
}

std::string command_section(const std::string& path, const CommandNode& command,
                            const std::set<std::string>& shared) {
  std::string text = fmt::format(".SS \"{}\"\n{}\n.PP\n{}\n", roff_text(path), usage(path, command),
                                 roff_text(command.description));
  std::vector<std::string> client;
  for (const OptionNode& option : command.options) {
    if (!shared.contains(option_key(option))) {
      text += option_entry(option);
    } else {
      client.push_back(bold(option.names.front()));
    }
  }
  if (!client.empty()) {
    text += fmt::format(".PP\nAlso {}: see \\fBSHARED OPTIONS\\fR.\n", fmt::join(client, ", "));
  }
  if (!command.examples.empty()) text += example_lines(command.examples);
  if (!command.routes.empty()) {
    std::vector<std::string> routes;
    for (const RouteNode& route : command.routes) {
      routes.push_back(roff_text(route.method + " " + route.path));
    }
    text += fmt::format(".PP\nCalls {}.\n", fmt::join(routes, ", "));
  }
  return text;
}

std::string shared_section(const CommandNode& root, const std::set<std::string>& shared) {
  std::string text = ".SH SHARED OPTIONS\n";
  std::set<std::string> written;
  each_command(root, [&](const std::string&, const CommandNode& command) {
    for (const OptionNode& option : command.options) {
      const std::string key = option_key(option);
      if (shared.contains(key) && written.insert(key).second) text += option_entry(option);
    }
  });
  text += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nThe help of any command, and exit code 0.\n";
  // Those of no command.
  for (const OptionNode& option : root.options) text += option_entry(option);
  return text;
}

std::string exit_section() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitMeaning& each : kExitMeanings) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", static_cast<int>(each.code),
                        roff_text(std::string(each.meaning)));
  }
  return text;
}

// Variables of options, and those that no option names.
std::string environment_section(const CommandNode& root) {
  std::map<std::string, std::string> variables{
      {"PENSTOCK_TOKEN",
       "The bearer token itself, for commands that talk to a daemon; "
       "`--token-file` goes before it"},
      {"PENSTOCK_*",
       "Any setting of the daemon: PENSTOCK_HTTP_LISTEN is http.listen. `penstock "
       "check-config --print-reference` lists them"},
      {"SOURCE_DATE_EPOCH", "The date that `penstock man` writes, in seconds since 1970"}};
  each_command(root, [&](const std::string&, const CommandNode& command) {
    for (const OptionNode& option : command.options) {
      if (option.environment.empty()) continue;
      variables.emplace(option.environment,
                        fmt::format("As `{}`: {}", option.names.front(), option.help));
    }
  });
  std::string text = ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables) {
    text += fmt::format(".TP\n{}\n{}.\n", bold(name), roff_text(meaning));
  }
  return text;
}

constexpr const char* kFiles =
    ".SH FILES\n"
    ".TP\n\\fI/etc/penstock/penstock.yaml\\fR\n"
    "Settings of the packaged daemon, as \\fB\\-\\-config\\fR. Without a package there is no such "
    "file.\n"
    ".TP\n\\fI/var/lib/penstock\\fR\n"
    "Its data folder, as \\fB\\-\\-data\\-dir\\fR.\n"
    ".TP\n\\fIFILE.import\\-state\\fR\n"
    "How far \\fBpenstock payments import\\fR \\fIFILE\\fR came; removed when it is complete.\n";

}  // namespace

std::string roff_text(const std::string& text) {
  std::string out;
  bool is_bold = false;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '`':
        is_bold = !is_bold;
        out += is_bold ? "\\fB" : "\\fR";
        break;
      default:
        out += c;
    }
  }
  return is_bold ? out + "\\fR" : out;
}

std::string man_page(const CommandNode& root, const ManPageFacts& facts) {
  const std::set<std::string> shared = shared_options(root);
  std::string text = fmt::format(
      ".\\\" Written by `penstock man`.\n"
      ".TH PENSTOCK 1 \"{}\" \"penstock {}\" \"User Commands\"\n"
      ".SH NAME\npenstock \\- decide whether, when and how fast work may run\n"
      ".SH SYNOPSIS\n{} {} [{}]\n"
      ".SH DESCRIPTION\n{}\n"
      ".PP\nResults go to standard output; mistakes, progress and log lines go to standard error. "
      "Progress is shown on a terminal only.\n"
      ".PP\nTimes are \\fI2025\\-06\\-01T12:00:00Z\\fR (or with an offset), \\fInow\\fR, "
      "\\fInow+PT1H\\fR or \\fInow\\-P1D\\fR; durations are ISO\\-8601, such as \\fIPT4S\\fR.\n"
      ".SH COMMANDS\n",
      facts.date, facts.version, bold("penstock"), italic("COMMAND"), italic("OPTIONS"),
      roff_text(root.description));
  each_command(root, [&](const std::string& path, const CommandNode& command) {
    if (command.runs) text += command_section(path, command, shared);
  });
  text += shared_section(root, shared) + exit_section() + environment_section(root) + kFiles;
  return text;
}

}  // namespace penstock::cli
