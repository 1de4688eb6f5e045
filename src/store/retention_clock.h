// Port: what is old enough to be forgotten, whatever the clock says just now. Thread-safe.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "store/port.h"

namespace penstock::store {

class RetentionClock : public Port {
 public:
  // What was written before the answer is at least `keep` old: by the store's clock, and by the
  // time that processes measured while they served the store (core/retention/progress.h).
  // kInstantMin when nothing is.
  virtual Result<Instant> older_than(Millis keep) = 0;
};

// By `clock` if the store has one, else by the wall clock alone.
inline Result<Instant> older_than(RetentionClock* clock, const Clock& wall, Millis keep) {
  if (clock == nullptr) return wall.now() - keep;
  return clock->older_than(keep);
}

}  // namespace penstock::store
