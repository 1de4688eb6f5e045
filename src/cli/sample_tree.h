// A small tree of commands for tests of what is made from one.
#pragma once

#include "cli/command_tree.h"

namespace penstock::cli {

inline CommandNode sample_tree() {
  const OptionNode url{.names = {"--url"},
                       .value_name = "URL",
                       .help = "Where it's",
                       .fallback = "http://x",
                       .environment = "PENSTOCK_URL"};
  CommandNode root{.name = "penstock", .description = "Decides.\nSecond line."};
  root.commands.push_back({.name = "slots", .description = "A group."});
  root.commands.back().commands.push_back(
      {.name = "import",
       .description = "Import a file.\n.not a macro",
       .examples = {"penstock slots import 'a.csv' --format=csv"},
       .options = {{.names = {"FILE"}, .help = "The file", .required = true, .positional = true},
                   {.names = {"--format", "-f"}, .value_name = "csv|ndjson", .help = "Its form"},
                   {.names = {"--output"}, .value_name = "FILE", .help = "Where to"},
                   {.names = {"--json"}, .help = "Raw"},
                   url},
       .routes = {{"POST", "/slots/batch"}},
       .runs = true});
  root.commands.push_back(
      {.name = "report",
       .description = "Report.",
       .options =
           {{.names = {"ID"}, .help = "Which", .required = true, .positional = true},
            {.names = {"STATUS"}, .value_name = "GOOD|BAD", .help = "What", .positional = true},
            {.names = {"--context"}, .value_name = "JSON", .help = "More"},
            {.names = {"--data-dir"}, .value_name = "DIR", .help = "Folder"},
            url},
       .runs = true});
  return root;
}

}  // namespace penstock::cli
