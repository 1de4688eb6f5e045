#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace penstock::cli {
namespace {

// In single quotes, where fish knows two escapes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// How `complete` is told what a value can be.
std::string value_words(const std::string& values) {
  if (values == "@file" || values == "@directory") return " -r -F";
  if (values.empty() || values.starts_with('@')) return " -x";
  return fmt::format(" -x -a {}", fish_quoted(values));
}

std::string option_line(const std::string& at, const OptionNode& option) {
  std::string line = fmt::format("complete -c penstock -n {}", at);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                   : fmt::format(" -s {}", name.substr(1));
  }
  if (option.takes_value()) line += value_words(completable(option));
  return line + fmt::format(" -d {}\n", fish_quoted(first_line(option.help)));
}

std::string positional_line(const std::string& path, const ValuePlace& place) {
  const bool open = place.what.ends_with('-');
  const std::string at =
      fish_quoted(fmt::format("__penstock_at {}; and test (__penstock_position) {} {}", path,
                              open ? "-ge" : "-eq", open ? place.what.substr(0, 1) : place.what));
  if (place.values.starts_with('@')) return fmt::format("complete -c penstock -n {} -F\n", at);
  return fmt::format("complete -c penstock -n {} -a {}\n", at, fish_quoted(place.values));
}

std::string complete_lines(const CommandNode& root) {
  std::string text;
  each_command(root, [&](const std::string& path, const CommandNode& command) {
    const std::string at = fish_quoted(fmt::format("__penstock_at {}", path));
    for (const CommandNode& child : command.commands) {
      text += fmt::format("complete -c penstock -n {} -a {} -d {}\n", at, child.name,
                          fish_quoted(child.summary()));
    }
    for (const OptionNode& option : command.options) {
      if (!option.positional) text += option_line(at, option);
    }
  });
  for (const ValuePlace& place : value_places(root)) {
    if (!place.what.starts_with('-')) text += positional_line(place.path, place);
  }
  return text;
}

std::string known_commands(const CommandNode& root) {
  std::string text;
  each_command(root, [&](const std::string& path, const CommandNode&) {
    text += fmt::format(" \\\n    {}", fish_quoted(path));
  });
  return text;
}

constexpr const char* kFishScript =
    R"(# Completion of penstock in fish, written by `penstock completion fish`.

set -g __penstock_commands{0}
set -g __penstock_valued {1}

# The command that was typed so far, and on a second line the number of the next argument.
function __penstock_line
    set -l path penstock
    set -l position 1
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            if contains -- $word $__penstock_valued
                set skip 1
            end
        else if contains -- "$path $word" $__penstock_commands
            set path "$path $word"
        else
            set position (math $position + 1)
        end
    end
    echo $path
    echo $position
end

function __penstock_at
    set -l line (__penstock_line)
    test "$line[1]" = "$argv"
end

function __penstock_position
    set -l line (__penstock_line)
    echo $line[2]
end

complete -c penstock -f
complete -c penstock -s h -l help -d 'Print this help message and exit'
{2})";

}  // namespace

std::string fish_completion(const CommandNode& root) {
  return fmt::format(kFishScript, known_commands(root), fmt::join(valued_options(root), " "),
                     complete_lines(root));
}

}  // namespace penstock::cli
