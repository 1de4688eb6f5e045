// Runs the daemon until it is told to stop. Blocks; gives the exit code of the process.
#pragma once

#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "daemon/config/load.h"
#include "sink/extension.h"

namespace penstock::daemon {

// `reread` gives the settings as they are now, or what is wrong with them; for SIGHUP.
using RereadConfig = std::function<std::expected<LoadedConfig, std::vector<std::string>>()>;
int serve(Config config, const RereadConfig& reread,
          std::span<const sink::SinkExtension> extensions);

}  // namespace penstock::daemon
