#include "runtime/poll_until.h"

#include <cerrno>

namespace penstock::runtime {

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
