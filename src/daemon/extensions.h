// What was compiled into this program from outside (PENSTOCK_EXTENSIONS). Written by the build, see
// cmake/PenstockDaemon.cmake.
#pragma once

#include <span>

#include "sink/extension.h"

namespace penstock::daemon {

std::span<const sink::SinkExtension> extensions();

}  // namespace penstock::daemon
