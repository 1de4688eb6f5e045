// The only file that knows yaml-cpp; its exceptions end here.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <string>

#include "base/nearest.h"
#include "daemon/config/load.h"

namespace penstock::daemon {
namespace {

std::string kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      return "a section";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      return "nothing";
    case YAML::NodeType::Scalar:
      break;
  }
  return shown(node.Scalar());
}

// A list as the one text that a variable would hold; nothing when an entry is neither a word nor a
// list of words.
std::optional<std::string> list_text(const YAML::Node& list, char separator) {
  std::string text;
  bool first = true;
  for (const YAML::Node& entry : list) {
    if (!first) text += separator;
    first = false;
    if (entry.IsScalar()) {
      text += entry.Scalar();
    } else if (entry.IsSequence() && separator == ',') {
      const auto inner = list_text(entry, '+');
      if (!inner) return std::nullopt;
      text += *inner;
    } else {
      return std::nullopt;
    }
  }
  return text;
}

// Goes no deeper than the table's own sections, whatever the file nests or aliases.
class YamlWalk {
 public:
  YamlWalk(std::string_view file_name, SourceReading& reading)
      : file_name_(file_name), reading_(reading) {}

  // `path` is empty for the whole file.
  void section(const YAML::Node& map, const std::string& path) {
    std::map<std::string, int> first_lines;
    for (const auto& entry : map) {
      const int line = entry.first.Mark().line + 1;
      if (!entry.first.IsScalar()) {
        problem(line, "a key must be a plain word, not " + kind_of(entry.first));
        continue;
      }
      const std::string& name = entry.first.Scalar();
      const std::string full = path.empty() ? name : fmt::format("{}.{}", path, name);
      if (const auto [seen, fresh] = first_lines.emplace(name, line); !fresh) {
        problem(line,
                fmt::format("{} stands twice in this file (first in line {})", full, seen->second));
        continue;
      }
      member(entry.second, full, line);
    }
  }

  void problem(int line, std::string_view sentence) {
    reading_.problems.push_back(fmt::format("{}:{}: {}", file_name_, line, sentence));
  }

 private:
  void member(const YAML::Node& node, const std::string& path, int line) {
    const Key* key = find_key(path);
    const Key* const below = first_key_below(path);
    const bool is_parent = below != nullptr;
    if (key == nullptr && !is_parent) {
      problem(line, fmt::format("unknown key {}; the nearest known key is {}", path,
                                nearest_path(path, known_paths())));
    } else if (std::ranges::count(path, '.') != depth_) {
      const std::size_t dot = path.rfind('.');
      problem(line,
              fmt::format("unknown key {} (a dot does not open a section): write {}: inside {}:",
                          path, path.substr(dot + 1), path.substr(0, dot)));
    } else if (is_parent && node.IsMap()) {
      ++depth_;
      section(node, path);
      --depth_;
    } else if (is_parent && node.IsNull()) {
      return;  // a section whose keys are all commented out
    } else if (key != nullptr && node.IsScalar() && (!is_parent || key->parse(node.Scalar()))) {
      take(reading_, *key, node.Scalar(), fmt::format("{}:{}", file_name_, line));
    } else if (key != nullptr && key->form->list && node.IsSequence()) {
      const auto text = list_text(node, ',');
      if (text) return take(reading_, *key, *text, fmt::format("{}:{}", file_name_, line));
      problem(line, fmt::format("{} must be {}", path, key->words()));
    } else if (is_parent) {
      problem(line, fmt::format("{} must be {}a section of keys such as {}, not {}", path,
                                key == nullptr ? "" : key->words() + " or ", below->path(),
                                kind_of(node)));
    } else if (node.IsNull()) {
      problem(line, fmt::format("{} has no value: write one, or remove the line", path));
    } else {
      problem(line, fmt::format("{} must be {}, not {}", path, key->words(), kind_of(node)));
    }
  }

  const std::string_view file_name_;
  SourceReading& reading_;
  std::ptrdiff_t depth_ = 0;  // sections around the entry at hand
};

// yaml-cpp reports a tab in the indentation as all sorts of things.
bool indented_with_tab(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::size_t first = text.find_first_not_of(" \t");
  return text.substr(0, first).find('\t') != text.npos;
}

}  // namespace

SourceReading read_yaml(std::string_view file_name, const std::string& text) {
  SourceReading reading;
  YamlWalk walk(file_name, reading);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      walk.problem(documents[1].Mark().line + 1,
                   "a second YAML document begins here; a file holds one");
    }
    if (documents.empty() || documents[0].IsNull()) return reading;
    if (documents[0].IsMap()) {
      walk.section(documents[0], "");
    } else {
      walk.problem(
          documents[0].Mark().line + 1,
          fmt::format("the file must hold settings (key: value), not {}", kind_of(documents[0])));
    }
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    const bool tab = indented_with_tab(text, line);
    walk.problem(line,
                 "not valid YAML: " +
                     (tab ? "the line is indented with a tab; YAML wants spaces" : error.msg));
  } catch (const std::exception& error) {
    walk.problem(1, std::string("not valid YAML: ") + error.what());
  }
  return reading;
}

}  // namespace penstock::daemon
