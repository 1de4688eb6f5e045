// A command for each row of a table of calls.
#pragma once

#include <span>

#include "app/calls/call.h"
#include "app/cli/command_line.h"

namespace penstock::app {

// Adds them to `group`. `calls` must live until the command line has run.
void add_calls(Command group, std::span<const Call> calls);

}  // namespace penstock::app
