#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace penstock::cli {
namespace {

// `'name:description'`, as _describe wants it.
std::string described(const std::string& name, std::string_view description) {
  return shell_quoted(fmt::format("{}:{}", name, description.substr(0, description.find('\n'))));
}

std::string zsh_command_cases(const CommandNode& root) {
  std::string text;
  each_command(root, [&](const std::string& path, const CommandNode& command) {
    text += fmt::format("    {})\n", shell_quoted(path));
    for (const CommandNode& child : command.commands) {
      text += fmt::format("      commands+=({})\n", described(child.name, child.summary()));
    }
    for (const OptionNode& option : command.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) {
        text += fmt::format("      options+=({})\n", described(name, option.help));
      }
    }
    text += "      ;;\n";
  });
  return text;
}

std::string zsh_value_cases(const CommandNode& root) {
  std::string text;
  for (const ValuePlace& place : value_places(root)) {
    const std::string pattern = place.what.ends_with('-')
                                    ? shell_quoted(place.path + " ") + "<->"
                                    : shell_quoted(fmt::format("{} {}", place.path, place.what));
    text += fmt::format("    {}) values={} ;;\n", pattern, shell_quoted(place.values));
  }
  return text;
}

constexpr const char* kZshScript = R"(#compdef penstock
# Completion of penstock in zsh, written by `penstock completion zsh`.

_penstock_command() {{
  commands=()
  options=('--help:Print this help message and exit')
  case $1 in
{0}  esac
}}

_penstock_values() {{
  values=
  case $1 in
{1}  esac
}}

_penstock() {{
  local line='penstock' current=${{words[CURRENT]}} before=${{words[CURRENT - 1]}} values= word
  local -a commands options
  local -a valued=({2})
  integer position=1 skip=0 i
  _penstock_command $line
  for ((i = 2; i < CURRENT; i++)); do
    word=${{words[i]}}
    if ((skip)); then
      skip=0
    elif [[ $word == -* ]]; then
      ((skip = valued[(Ie)$word] > 0))
    elif ((${{commands[(I)$word:*]}})); then
      line="$line $word"
      _penstock_command $line
    else
      ((position++))
    fi
  done
  if [[ $current == --*=* ]]; then
    before=${{current%%=*}}
    compset -P '*='
    current=
  fi
  if ((valued[(Ie)$before])); then
    _penstock_values "$line $before"
  elif [[ $current == -* ]]; then
    _describe -o option options
    return
  elif ((${{#commands}})); then
    _describe command commands
    return
  else
    _penstock_values "$line $position"
  fi
  case $values in
    '') return 1 ;;
    @file) _files ;;
    @directory) _files -/ ;;
    @json) compset -P @ && _files ;;
    *) compadd -- ${{=values}} ;;
  esac
}}

if [[ $funcstack[1] == _penstock ]]; then
  _penstock "$@"
else
  compdef _penstock penstock
fi
)";

}  // namespace

std::string zsh_completion(const CommandNode& root) {
  return fmt::format(kZshScript, zsh_command_cases(root), zsh_value_cases(root),
                     fmt::join(valued_options(root), " "));
}

}  // namespace penstock::cli
