// The part of the table of settings that tells of servers work goes to and comes from.
#pragma once

#include <span>

#include "daemon/config/keys.h"

namespace penstock::daemon {

std::span<const Key> peer_keys();

}  // namespace penstock::daemon
