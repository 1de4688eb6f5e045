// How long a call may still take. Counts on the steady clock; a value, copied freely.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "runtime/stopwatch.h"

namespace penstock::runtime {

class Deadline {
 public:
  explicit Deadline(Millis limit) noexcept : limit_(limit) {}

  Millis remaining() const noexcept {
    const Millis passed{static_cast<std::int64_t>(watch_.seconds() * 1000.0)};
    return std::max(Millis::zero(), limit_ - passed);
  }
  bool passed() const noexcept { return remaining() == Millis::zero(); }
  Millis limit() const noexcept { return limit_; }

 private:
  runtime::Stopwatch watch_;
  Millis limit_;
};

}  // namespace penstock::runtime
