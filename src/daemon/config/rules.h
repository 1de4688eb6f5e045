// What must hold between settings, and the files that settings name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/config/sources.h"

namespace penstock::daemon {

inline constexpr std::string_view kDefaultOrigin = "default";

using Settings = std::map<std::string_view, Setting>;  // by path; every key of the table is there

struct RuleFindings {
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
};

// Fills in what follows from other settings.
void settle(Config& config, const Settings& settings);

// Rules between settings; `settings` says where each came from. Reads no file.
RuleFindings validate(const Config& config, const Settings& settings);

// Loads the secrets from their files and tries the other files. Without `all` only the passwords of
// the stores, which every command that opens a store needs.
void take_files(Config& config, const Settings& settings, bool all, RuleFindings& findings);

}  // namespace penstock::daemon
