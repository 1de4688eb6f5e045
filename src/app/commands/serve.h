// Runs the daemon until it is told to stop. Blocks; gives the exit code of the process.
#pragma once

#include <span>

#include "app/config/config.h"
#include "sink/extension.h"

namespace penstock::app {

int serve(const Config& config, std::span<const sink::SinkExtension> extensions);

}  // namespace penstock::app
