// How `penstock payments` words the daemon's answers. Pure; safe on any thread.
#pragma once

#include <string>

#include "wire/json.h"

namespace penstock::tool {

std::string payment_view(wire::JsonValue payment);
std::string rules_view(wire::JsonValue rules);

}  // namespace penstock::tool
