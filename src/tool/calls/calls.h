// The tables of calls, one for each group of commands. They live as long as the process.
#pragma once

#include <span>

#include "tool/calls/call.h"

namespace penstock::tool {

std::span<const Call> slot_calls();
std::span<const Call> slot_config_calls();
std::span<const Call> throttle_calls();
std::span<const Call> policy_calls();
std::span<const Call> key_calls();
std::span<const Call> dispatch_calls();
std::span<const Call> item_type_calls();
std::span<const Call> payment_calls();
std::span<const Call> gateway_calls();
std::span<const Call> quota_calls();
std::span<const Call> daemon_calls();

}  // namespace penstock::tool
