#include "runtime/steady_wall_clock.h"

#include "runtime/system_clock.h"

namespace penstock::runtime {

SteadyWallClock::SteadyWallClock() noexcept
    : monotonic_(nullptr), start_(SystemClock().now() - monotonic_micros()) {}

SteadyWallClock::SteadyWallClock(const Clock& wall, MonotonicSource monotonic) noexcept
    : monotonic_(monotonic), start_(wall.now() - monotonic()) {}

}  // namespace penstock::runtime
