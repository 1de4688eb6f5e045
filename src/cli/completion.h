// Scripts that let shells complete what can be typed, made from the tree of commands: commands,
// options, and values of closed sets; files where a file is wanted. They ask no daemon and run no
// program. Pure; safe on any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_tree.h"

namespace penstock::cli {

std::string bash_completion(const CommandNode& root);
std::string zsh_completion(const CommandNode& root);
std::string fish_completion(const CommandNode& root);

// What all three are made of.

// What can stand for a value, in the words of the scripts: "csv ndjson", "@file", "@directory",
// "@json" (@FILE among others); empty when nobody can know.
std::string completable(const OptionNode& option);

// Where values are completed: the command, and the option or the number of the positional argument.
struct ValuePlace {
  std::string path;  // "penstock slots import"
  std::string what;  // "--format", or "1"; "1-" for that one and all after it
  std::string values;
};
std::vector<ValuePlace> value_places(const CommandNode& root);

// Names of options that take a value, in any command: words after them are no commands.
std::vector<std::string> valued_options(const CommandNode& root);

// In single quotes, for bash and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace penstock::cli
