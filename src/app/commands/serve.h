// Runs the daemon until it is told to stop. Blocks; gives the exit code of the process.
#pragma once

#include "app/config/config.h"

namespace penstock::app {

int serve(const Config& config);

}  // namespace penstock::app
