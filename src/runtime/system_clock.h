// The one place that asks the machine for the time, and for chance.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace penstock::runtime {

class SystemClock final : public Clock {
 public:
  Instant now() const noexcept override;
};

// Another number in every life of every process, for Rng and for hashes that nobody may foresee.
std::uint64_t random_seed();

}  // namespace penstock::runtime
