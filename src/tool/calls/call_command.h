// A command for each row of a table of calls.
#pragma once

#include <span>

#include "cli/command_line.h"
#include "tool/calls/call.h"

namespace penstock::tool {

// Adds them to `group`. `calls` must live until the command line has run.
void add_calls(cli::Command group, std::span<const Call> calls);

}  // namespace penstock::tool
