// For tests: a store's own time that says what it is told.
#pragma once

#include <atomic>
#include <semaphore>

#include "store/retention_clock.h"

namespace penstock::service {

class FakeRetentionClock final : public store::RetentionClock {
 public:
  Result<Instant> older_than(Millis keep) override {
    asked_for = keep;
    asked.release();
    return old.load();
  }
  // Until it was asked after this call, and what followed is done.
  void wait_for_a_round() {
    while (asked.try_acquire()) {
    }
    asked.acquire();
    asked.acquire();
  }

  std::atomic<Instant> old{kInstantMin};
  std::atomic<Millis> asked_for{Millis{0}};
  std::counting_semaphore<> asked{0};
};

}  // namespace penstock::service
