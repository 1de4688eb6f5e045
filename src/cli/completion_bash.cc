#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "cli/completion.h"

namespace penstock::cli {
namespace {

// What a command can be followed by.
std::string bash_command_cases(const CommandNode& root) {
  std::string text;
  each_command(root, [&](const std::string& path, const CommandNode& command) {
    std::vector<std::string> commands;
    for (const CommandNode& child : command.commands) commands.push_back(child.name);
    std::vector<std::string> options;
    for (const OptionNode& option : command.options) {
      if (!option.positional) {
        options.insert(options.end(), option.names.begin(), option.names.end());
      }
    }
    options.insert(options.end(), {"--help", "-h"});
    text += fmt::format("    {})\n      commands={}\n      options={} ;;\n", shell_quoted(path),
                        shell_quoted(fmt::format("{}", fmt::join(commands, " "))),
                        shell_quoted(fmt::format("{}", fmt::join(options, " "))));
  });
  return text;
}

// An option that takes the same everywhere has one line.
std::string bash_value_cases(const CommandNode& root) {
  const std::vector<ValuePlace> places = value_places(root);
  std::map<std::string, std::set<std::string>> kinds;
  for (const ValuePlace& place : places) kinds[place.what].insert(place.values);
  std::set<std::string> written;
  std::string text;
  for (const ValuePlace& place : places) {
    const bool same = place.what.starts_with('-') && kinds[place.what].size() == 1;
    if (same && !written.insert(place.what).second) continue;
    const std::string pattern = same ? fmt::format("*' {}'", place.what)
                                : place.what.ends_with('-')
                                    ? shell_quoted(place.path + " ") + "[0-9]*"
                                    : shell_quoted(fmt::format("{} {}", place.path, place.what));
    text += fmt::format("    {}) values={} ;;\n", pattern, shell_quoted(place.values));
  }
  return text;
}

constexpr const char* kBashScript =
    R"(# Completion of penstock in bash, written by `penstock completion bash`.

_penstock_command() {{
  case $1 in
{0}  esac
}}

_penstock_values() {{
  values=''
  case $1 in
{1}  esac
}}

_penstock() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local path=penstock commands='' options='' values='' word='' position=1 skip='' i
  local valued=' {2} '
  COMPREPLY=()
  _penstock_command "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    if [[ $word == '=' ]]; then
      skip=value # --option=value is three words here
    elif [[ -n $skip ]]; then
      skip=''
    elif [[ $word == -* ]]; then
      [[ $valued == *" $word "* ]] && skip=value
    elif [[ " $commands " == *" $word "* ]]; then
      path="$path $word"
      _penstock_command "$path"
    else
      position=$((position + 1))
    fi
  done
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  if [[ $valued == *" $before "* ]]; then
    _penstock_values "$path $before"
  elif [[ $current == -* ]]; then
    values=$options
  elif [[ -n $commands ]]; then
    values=$commands
  else
    _penstock_values "$path $position"
  fi
  case $values in
    '') ;;
    @file) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    @directory) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    @json) [[ $current == @* ]] && mapfile -t COMPREPLY < <(compgen -P @ -f -- "${{current#@}}") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current") ;;
  esac
}}

complete -F _penstock penstock
)";

}  // namespace

std::string bash_completion(const CommandNode& root) {
  return fmt::format(kBashScript, bash_command_cases(root), bash_value_cases(root),
                     fmt::join(valued_options(root), " "));
}

}  // namespace penstock::cli
