// A command for each call of a group.
#pragma once

#include "cli/command_line.h"
#include "tool/calls/call.h"

namespace penstock::tool {

// Adds them below `parent`, and the group itself if it has words; gives the place where they are.
cli::Command add_calls(cli::Command parent, CallGroup group);

}  // namespace penstock::tool
