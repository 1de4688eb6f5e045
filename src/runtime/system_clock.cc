#include "runtime/system_clock.h"

#include <random>

namespace penstock::runtime {

Instant SystemClock::now() const noexcept {
  return Instant{std::chrono::floor<Micros>(std::chrono::system_clock::now().time_since_epoch())};
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace penstock::runtime
