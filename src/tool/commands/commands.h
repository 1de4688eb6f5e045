// The commands of `penstock` that talk to a daemon, and those that describe the program itself.
#pragma once

#include "cli/command_line.h"

namespace penstock::tool {

// In the order in which the help shows them. `slots` is given back for what the daemon's room adds.
cli::Command add_slots(cli::Command root);
void add_windows(cli::Command root);
void add_config(cli::Command root);
void add_groups_of_calls(cli::Command root);
void add_payments(cli::Command root);
void add_gateway(cli::Command root);
void add_daemon_calls(cli::Command root);
void add_metrics(cli::Command root);
void add_demo(cli::Command root);
void add_bench(cli::Command root);
void add_top(cli::Command root);

// Completion, man page and list of commands: of everything in `tree`, which must outlive `root`.
void add_self_description(cli::Command root, const cli::CommandNode& tree);

// Parts of the above.
void add_slots_import(cli::Command slots);
void add_payments_import(cli::Command payments);
void add_bench_dispatch(cli::Command bench);

}  // namespace penstock::tool
