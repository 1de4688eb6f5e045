// Where the versions of configs place: what a slot's window is counted under. Versions never
// change, so what was read once is kept. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot.h"
#include "engine/rocksdb/engine.h"

namespace penstock::store::embedded {

struct Timeline {
  PoolName pool;
  Millis size{0};
  friend auto operator<=>(const Timeline&, const Timeline&) = default;
};

class Timelines {
 public:
  // Of the version that `slot` was given under.
  Result<Timeline> of(const Engine::View& view, const core::Slot& slot);

 private:
  std::map<std::pair<ConfigName, std::int64_t>, Timeline> known_;
};

}  // namespace penstock::store::embedded
