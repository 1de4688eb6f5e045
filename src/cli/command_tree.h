// What can be typed, as data: the help, the completion of shells, the man page and `penstock
// commands` all tell the same, because they all read this. Filled by Command while commands are
// added; read-only after that. Safe on any thread then.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace penstock::cli {

// "a,b" as a and b.
std::vector<std::string> split_names(const std::string& names, char separator);

struct OptionNode {
  std::vector<std::string> names;  // "--config", "-c"; of a positional argument its one name
  std::string value_name;          // "FILE"; "csv|ndjson" is a closed set; empty for a flag
  std::string help;
  std::string fallback;     // what holds when it is not given; empty = nothing
  std::string environment;  // variable that gives the value instead
  bool required = false;
  bool repeated = false;  // takes several values
  bool positional = false;

  bool takes_value() const { return positional || !value_name.empty(); }
  // The words of a closed set; empty when anything goes.
  std::vector<std::string> choices() const;
};

// A route of the daemon that a command calls, as GET /admin/routes names it.
struct RouteNode {
  std::string method;
  std::string path;
};

struct CommandNode {
  std::string name;
  std::string description;  // the first line stands in lists
  std::vector<std::string> examples;
  std::vector<OptionNode> options;  // without --help, which every command has
  std::list<CommandNode> commands;  // stable addresses: handles point at them
  std::vector<RouteNode> routes;
  bool runs = false;  // else it only groups others

  std::string summary() const { return description.substr(0, description.find('\n')); }
};

// Calls `visit` for the root and each command below it, in the order in which they were added;
// `path` is all of its words, "penstock slots assign".
void each_command(const CommandNode& root,
                  const std::function<void(const std::string& path, const CommandNode&)>& visit);

}  // namespace penstock::cli
