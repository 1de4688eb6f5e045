#include "runtime/system_clock.h"

namespace penstock::runtime {

Instant SystemClock::now() const noexcept {
  return Instant{std::chrono::floor<Micros>(std::chrono::system_clock::now().time_since_epoch())};
}

}  // namespace penstock::runtime
