#include "tool/commands/commands.h"

#include "tool/calls/call_command.h"
#include "tool/calls/calls.h"

namespace penstock::tool {

// Groups of which every command is a row of a table.
void add_groups_of_calls(cli::Command root) {
  add_calls(root.add("throttle", "Ask whether requests may pass now.", {}), throttle_calls());
  add_calls(
      root.add("policies", "Read and change the policies of throttle (needs the admin token).", {}),
      policy_calls());
  add_calls(
      root.add("keys", "Look at what keys have used, and reset it (needs the admin token).", {}),
      key_calls());
  add_calls(root.add("dispatch", "Schedule items, look at them, cancel and redrive them.", {}),
            dispatch_calls());
  add_calls(
      root.add("types", "Read and change the item types of dispatch (needs the admin token).", {}),
      item_type_calls());
}

void add_daemon_calls(cli::Command root) { add_calls(root, daemon_calls()); }

}  // namespace penstock::tool
