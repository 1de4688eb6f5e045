#include "cli/command_tree.h"

#include <sstream>

namespace penstock::cli {
namespace {

using Visit = std::function<void(const std::string&, const CommandNode&)>;

void walk(const std::string& path, const CommandNode& command, const Visit& visit) {
  visit(path, command);
  for (const CommandNode& child : command.commands) walk(path + " " + child.name, child, visit);
}

}  // namespace

std::vector<std::string> split_names(const std::string& names, char separator) {
  std::vector<std::string> out;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, separator);) out.push_back(name);
  return out;
}

std::vector<std::string> OptionNode::choices() const {
  if (value_name.find('|') == std::string::npos) return {};
  return split_names(value_name, '|');
}

void each_command(const CommandNode& root, const Visit& visit) { walk(root.name, root, visit); }

}  // namespace penstock::cli
