// The commands of `penstock` that talk to a daemon, and those that describe the program itself.
#pragma once

#include "cli/command_line.h"
#include "tool/calls/call.h"

namespace penstock::tool {

// In the order in which the help shows them. Of each route of the daemon a command, and what is put
// together of several calls; gives back `slots` for what the daemon's room adds.
cli::Command add_calls_of_daemon(cli::Command root);
void add_demo(cli::Command root);
void add_bench(cli::Command root);
void add_top(cli::Command root);

// Completion, man page and list of commands: of everything in `tree`, which must outlive `root`.
void add_self_description(cli::Command root, const cli::CommandNode& tree);

// Parts of the above.

// Adds a command for each call of a group below `parent`, and the group itself if it has words;
// gives the place where they are.
cli::Command add_calls(cli::Command parent, CallGroup group);
void add_slots_import(cli::Command slots);
void add_payments_import(cli::Command payments);
void add_gateway_export(cli::Command gateway);
void add_metrics(cli::Command root);
void add_bench_dispatch(cli::Command bench);

}  // namespace penstock::tool
