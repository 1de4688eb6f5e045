// The settings themselves, and the files that they name. The judgements are pure.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/load.h"
#include "daemon/doctor/finding.h"

namespace penstock::daemon::doctor {

using Loaded = std::expected<LoadedConfig, std::vector<std::string>>;

// `file` as it was given; empty = none was.
Findings judge_settings(const std::string& file, const Loaded& loaded);

// A file that holds a secret, by its mode. `told` = the settings warn by themselves when everybody
// may read it.
Findings judge_secret_mode(std::string_view key, const std::string& file, mode_t mode, bool told);

// Both, and the modes of all such files.
Findings check_config(const std::string& file, const Loaded& loaded);

}  // namespace penstock::daemon::doctor
