// The one table of settings. The YAML reader, the environment reader, the flags, the defaults and
// docs/configuration.md all follow it: a new setting is one entry here and one member of Config.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/config/value.h"

namespace penstock::daemon {

struct Key {
  std::string_view path;  // in the file: "http.listen"
  ValueType type;
  std::string_view fallback;  // the default as one would write it; empty = not set
  std::string_view help;
  std::string_view flag = {};  // of serve and check-config: "--http"; empty = none
  void (*apply)(Config&, const Value&) = nullptr;  // not called when the value is not set
};

// Grouped by section, in the order of the reference.
std::span<const Key> keys();

// Null when there is no such key.
const Key* find_key(std::string_view path);
const Key* find_key_by_environment_name(std::string_view name);

// Whether some key stands below `path`: "http", "http.tls".
bool is_section(std::string_view path);

// All keys and sections, for suggestions.
std::vector<std::string_view> known_paths();

// "http.listen" -> "PENSTOCK_HTTP_LISTEN"
std::string environment_name(std::string_view path);

// The table as markdown, for docs/configuration.md.
std::string reference_markdown();

}  // namespace penstock::daemon
