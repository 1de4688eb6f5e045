// For tests: waits for what another thread does and tells nobody. What offers something to wait on
// (a future, a condition variable, a socket) is waited for there.
#pragma once

#include <thread>

#include "base/time.h"
#include "runtime/clocks.h"

namespace penstock::runtime {

// Whether `condition` comes to hold; what takes longer than a minute has failed.
template <class Condition>
[[nodiscard]] bool eventually(const Condition& condition) {
  const Deadline deadline{Seconds{60}};
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(Millis{5});
  }
  return true;
}

}  // namespace penstock::runtime
