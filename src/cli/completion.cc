#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace penstock::cli {

std::string completable(const OptionNode& option) {
  if (const std::vector<std::string> choices = option.choices(); !choices.empty()) {
    return fmt::format("{}", fmt::join(choices, " "));
  }
  const std::string& name = option.positional ? option.names.front() : option.value_name;
  if (name == "FILE" || name == "PATH") return "@file";
  if (name == "DIR") return "@directory";
  if (name == "JSON") return "@json";
  return "";
}

std::vector<ValuePlace> value_places(const CommandNode& root) {
  std::vector<ValuePlace> places;
  each_command(root, [&](const std::string& path, const CommandNode& command) {
    int position = 0;
    for (const OptionNode& option : command.options) {
      if (option.positional) ++position;
      const std::string values = option.takes_value() ? completable(option) : "";
      if (values.empty()) continue;
      if (option.positional) {
        places.push_back({path, fmt::format("{}{}", position, option.repeated ? "-" : ""), values});
        continue;
      }
      for (const std::string& name : option.names) places.push_back({path, name, values});
    }
  });
  return places;
}

std::vector<std::string> valued_options(const CommandNode& root) {
  std::set<std::string> names;
  each_command(root, [&](const std::string&, const CommandNode& command) {
    for (const OptionNode& option : command.options) {
      if (!option.positional && option.takes_value()) {
        names.insert(option.names.begin(), option.names.end());
      }
    }
  });
  return {names.begin(), names.end()};
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace penstock::cli
