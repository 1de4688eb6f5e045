// The part of the table of settings that tells of servers work goes to and comes from.
#pragma once

#include <span>

#include "app/config/keys.h"

namespace penstock::app {

std::span<const Key> peer_keys();

}  // namespace penstock::app
