// The one place that asks the machine for the time.
#pragma once

#include "base/time.h"

namespace penstock::runtime {

class SystemClock final : public Clock {
 public:
  Instant now() const noexcept override;
};

}  // namespace penstock::runtime
