// A request, or that part of one whose keys lie in one slot: what Redis can decide atomically.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "core/limits/limit.h"
#include "store/limits/ports.h"

namespace penstock::store::redis {

struct Part {
  std::span<const LimitCheck> checks;
  std::int64_t cost = 1;
  bool tried = false;  // says what would be, and charges nothing
  std::span<core::LimitStatus> statuses;
  Result<bool> admitted = fail(ErrorKind::unavailable, "redis did not answer");
};

}  // namespace penstock::store::redis
