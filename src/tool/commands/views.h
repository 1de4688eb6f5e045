// The daemon's JSON answers as people read them. Pure: any JSON gives some text.
#pragma once

#include <string>

#include "wire/json.h"

namespace penstock::tool {

std::string slot_view(wire::JsonValue slot);        // one line, more when the answer has a status
std::string windows_view(wire::JsonValue windows);  // a table with a bar per window
std::string configs_view(wire::JsonValue configs);  // one config, or an array of versions

}  // namespace penstock::tool
