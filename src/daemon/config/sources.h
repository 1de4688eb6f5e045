// The places settings come from. Each reader gives what it understood and what is wrong, all of it,
// so that a person mends a file in one go. None throws.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/config/keys.h"

namespace penstock::daemon {

struct Setting {
  const Key* key = nullptr;
  FieldValue value;
  std::string origin;  // "penstock.yaml:3", "PENSTOCK_HTTP_LISTEN", "--http", "default"
};

struct SourceReading {
  std::vector<Setting> settings;
  std::vector<std::string> problems;  // each "ORIGIN: sentence"
};

// `file_name` is for messages only.
SourceReading read_yaml(std::string_view file_name, const std::string& text);

using EnvironmentVariable = std::pair<std::string, std::string>;

// Looks at PENSTOCK_* only; an empty variable counts as not set.
SourceReading read_environment(std::span<const EnvironmentVariable> variables);

// The variables of this process.
std::vector<EnvironmentVariable> process_environment();

struct FlagValue {
  const Key* key = nullptr;  // one that has a flag
  std::string text;
};

SourceReading read_flags(std::span<const FlagValue> flags);

// Takes `text` for `key`: a setting, or a problem.
void take(SourceReading& reading, const Key& key, std::string_view text, std::string origin);

}  // namespace penstock::daemon
