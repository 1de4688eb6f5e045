// Port: cleans an engine of keys whose usage says nothing any more. Only engines that do not let
// keys expire by themselves offer it. Blocking; one caller at a time on each node.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace penstock::store {

class LimitSweep {
 public:
  struct Swept {
    std::size_t seen = 0;
    std::size_t dropped = 0;
    bool round_done = false;  // every key was looked at; the next call starts over
  };

  LimitSweep() = default;
  LimitSweep(const LimitSweep&) = delete;
  LimitSweep& operator=(const LimitSweep&) = delete;
  virtual ~LimitSweep() = default;

  // Looks at the next `keys` keys in turn and drops the idle ones, in one short transaction. `now`
  // empty = the engine's clock.
  virtual Result<Swept> sweep(std::size_t keys, std::optional<Instant> now) = 0;
};

}  // namespace penstock::store
