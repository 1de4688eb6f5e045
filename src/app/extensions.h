// What was compiled into this program from outside (PENSTOCK_EXTENSIONS). Written by the build, see
// cmake/PenstockDaemon.cmake.
#pragma once

#include <span>

#include "sink/extension.h"

namespace penstock::app {

std::span<const sink::SinkExtension> extensions();

}  // namespace penstock::app
