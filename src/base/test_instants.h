// For tests: instants to begin at.
#pragma once

#include "base/time.h"

namespace penstock {

inline constexpr Instant kNoon = from_epoch_millis(1'748'779'200'000);   // 2025-06-01T12:00:00Z
inline constexpr Instant kStart = from_epoch_millis(1'750'000'000'000);  // a multiple of 10 s

}  // namespace penstock
