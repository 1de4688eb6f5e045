// The commands of `penstock` that run a daemon or open its stores.
#pragma once

#include <span>

#include "cli/command_line.h"
#include "sink/extension.h"

namespace penstock::daemon {

void add_serve(cli::Command root, std::span<const sink::SinkExtension> extensions);
void add_check_config(cli::Command root);
void add_doctor(cli::Command root);
void add_migrate(cli::Command root);
void add_verify(cli::Command root);
void add_version(cli::Command root);
void add_export(cli::Command root);
void add_slots_prune(cli::Command slots);

}  // namespace penstock::daemon
