#include "tool/commands/commands.h"

namespace penstock::tool {

cli::Command add_calls_of_daemon(cli::Command root) {
  const cli::Command slots = add_calls(root, slot_calls());
  add_slots_import(slots);
  add_calls(root, window_calls());
  add_calls(root, slot_config_calls());
  add_calls(root, throttle_calls());
  add_calls(root, policy_calls());
  add_calls(root, key_calls());
  add_calls(root, dispatch_calls());
  add_calls(root, item_type_calls());
  const cli::Command payments = add_calls(root, payment_calls());
  add_payments_import(payments);
  add_calls(payments, payment_rule_calls());
  const cli::Command gateway = add_calls(root, gateway_calls());
  add_calls(gateway, quota_calls());
  add_gateway_export(gateway);
  add_calls(root, daemon_calls());
  add_metrics(root);
  return slots;
}

}  // namespace penstock::tool
