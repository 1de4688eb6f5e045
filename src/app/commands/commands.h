// The commands of `penstock`, each in a file of its own.
#pragma once

#include <span>

#include "app/cli/command_line.h"
#include "sink/extension.h"

namespace penstock::app {

void add_serve(Command root, std::span<const sink::SinkExtension> extensions);
void add_check_config(Command root);
void add_doctor(Command root);
void add_migrate(Command root);
void add_verify(Command root);
void add_version(Command root);
void add_metrics(Command root);
void add_slots(Command root);
void add_windows(Command root);
void add_config(Command root);
void add_export(Command root);
void add_gateway(Command root);
void add_payments(Command root);
void add_demo(Command root);
void add_bench(Command root);
void add_top(Command root);

// Completion, man page and list of commands: of everything in `tree`, which must outlive `root`.
void add_self_description(Command root, const CommandNode& tree);

// Parts of add_slots.
void add_slots_prune(Command slots);
void add_slots_import(Command slots);

// Part of add_payments.
void add_payments_import(Command payments);

// Part of add_bench.
void add_bench_dispatch(Command bench);

// Builds the command line, runs it, gives the exit code.
int run_penstock(int argc, const char* const* argv,
                 std::span<const sink::SinkExtension> extensions = {});

}  // namespace penstock::app
