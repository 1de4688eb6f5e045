// For tests of the demo: instants told as milliseconds since some start.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace penstock::tool {

inline Instant at(std::int64_t millis) { return from_epoch_millis(1'000'000 + millis); }

}  // namespace penstock::tool
