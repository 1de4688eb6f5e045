#include "runtime/clocks.h"

#include <cerrno>
#include <random>

namespace penstock::runtime {

Instant SystemClock::now() const noexcept {
  return Instant{std::chrono::floor<Micros>(std::chrono::system_clock::now().time_since_epoch())};
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

SteadyWallClock::SteadyWallClock() noexcept
    : monotonic_(nullptr), start_(SystemClock().now() - monotonic_micros()) {}

SteadyWallClock::SteadyWallClock(const Clock& wall, MonotonicSource monotonic) noexcept
    : monotonic_(monotonic), start_(wall.now() - monotonic()) {}

bool poll_until(std::span<pollfd> descriptors, const Deadline& deadline) noexcept {
  for (;;) {
    // One more millisecond, so that "remaining 0.4 ms" does not spin.
    const Millis left = deadline.remaining();
    const int ready = ::poll(descriptors.data(), descriptors.size(),
                             left == Millis::zero() ? 0 : static_cast<int>(left.count()) + 1);
    if (ready > 0) return true;
    if (ready == 0 && deadline.passed()) return false;
    if (ready < 0 && errno != EINTR) return true;
  }
}

}  // namespace penstock::runtime
