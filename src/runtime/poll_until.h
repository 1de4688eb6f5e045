// Waits for sockets at most until a deadline. Safe on any thread.
#pragma once

#include <poll.h>

#include <span>

#include "runtime/deadline.h"

namespace penstock::runtime {

// True = one is ready, or the kernel refuses to say (the caller's next read finds out why); false =
// time is up. Which one and for what stands in `descriptors`.
bool poll_until(std::span<pollfd> descriptors, const Deadline& deadline) noexcept;

}  // namespace penstock::runtime
