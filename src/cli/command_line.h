// Commands, options and help, over CLI11, whose heavy header stays in one file. Commands are added
// once at start-up; what options point at must live until run() returns. One thread. What is added
// also stands in a tree, from which completion and the man page are made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command_tree.h"

namespace CLI {
class App;
}

namespace penstock::cli {

// Refuses a value with a predicate ("must be …"); null = anything goes.
using ValueCheck = std::function<Result<void>(const std::string&)>;

struct OptionHelp {
  std::string names;  // "--config", "-c,--config"; "EVENT_ID" for a positional argument
  // "FILE"; empty for a positional argument. "csv|ndjson" is a closed set that shells complete.
  std::string value_name;
  std::string help;
  bool required = false;
  std::string environment = {};  // variable that gives the value when the flag does not
  ValueCheck check = nullptr;
};

// Takes only the words of a closed set, "csv|ndjson".
ValueCheck one_of(const std::string& choices);

// One command or group of commands; a cheap handle.
class Command {
 public:
  // `examples` are whole lines, shown at the end of the help.
  Command add(const std::string& name, const std::string& description,
              const std::vector<std::string>& examples);

  // What `into` holds before is the default that the help shows.
  void option(const OptionHelp& help, std::string& into);
  void number(const OptionHelp& help, std::int64_t& into, std::int64_t min, std::int64_t max);
  void flag(const std::string& names, const std::string& help, bool& into);
  // --version, which prints `line` and ends with 0 whatever else was said.
  void version_flag(const std::string& line);
  // Several values: the rest of the positional arguments, or an option that may be repeated.
  void list(const OptionHelp& help, std::vector<std::string>& into, std::size_t max);

  // A route of the daemon that the command calls; the help ends with it.
  void calls(const std::string& method, const std::string& path);

  // Gives the exit code. A command without action only groups others.
  void action(std::function<int()> run);

 private:
  friend class CommandLine;
  struct Actions;
  Command(CLI::App& app, Actions& actions, CommandNode& node)
      : app_(&app), actions_(&actions), node_(&node) {}
  void note(const OptionHelp& help, const std::string& fallback, bool repeated = false);

  CLI::App* app_;
  Actions* actions_;
  CommandNode* node_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& footer);
  ~CommandLine();

  Command root();
  // Everything that was added so far; lives as long as this.
  const CommandNode& tree() const noexcept { return tree_; }

  // Parses, then runs the chosen command. --help prints and gives 0; a mistake prints what is wrong
  // and gives 2, so does a group without a command, with its help.
  int run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Command::Actions> actions_;
  CommandNode tree_;
};

}  // namespace penstock::cli
