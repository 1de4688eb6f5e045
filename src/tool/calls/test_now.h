// For tests of calls: when they are made.
#pragma once

#include "base/iso8601.h"

namespace penstock::tool {

inline const Instant kNow = *parse_instant("2025-06-01T12:00:00Z");

}  // namespace penstock::tool
