// Commands, options and help, over CLI11, whose heavy header stays in one file. Commands are added
// once at start-up; what options point at must live until run() returns. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace penstock::app {

struct OptionHelp {
  std::string names;       // "--config", "-c,--config"; "EVENT_ID" for a positional argument
  std::string value_name;  // "FILE"; empty for a positional argument
  std::string help;
  bool required = false;
  std::string environment = {};  // variable that gives the value when the flag does not
  // Refuses a value with a predicate ("must be …"); null = anything goes.
  std::function<Result<void>(const std::string&)> check = nullptr;
};

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

  // Gives the exit code. A command without action only groups others.
  void action(std::function<int()> run);

 private:
  friend class CommandLine;
  struct Actions;
  Command(CLI::App& app, Actions& actions) : app_(&app), actions_(&actions) {}

  CLI::App* app_;
  Actions* actions_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& footer);
  ~CommandLine();

  Command root();

  // Parses, then runs the chosen command. --help prints and gives 0; a mistake prints what is wrong
  // and gives 2, so does a group without a command, with its help.
  int run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Command::Actions> actions_;
};

}  // namespace penstock::app
