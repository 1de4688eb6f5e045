// Keeps the usage of throttle keys across restarts: takes up at the start what was saved, saves
// what changed at intervals on a thread of its own, and once more at the end. Drops idle keys
// meanwhile.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/metrics.h"
#include "runtime/ticker.h"
#include "store/limits/memory/memory_limits.h"
#include "store/limits/ports.h"

namespace penstock::daemon {

class LimitSaver {
 public:
  // All must outlive the saver; `limits` must track changes.
  LimitSaver(store::memory::MemoryLimits& limits, store::LimitArchive& archive, Log& log,
             runtime::Metrics& metrics);
  ~LimitSaver() { stop(); }

  // Before anybody asks `limits`.
  Result<void> restore();
  void start(Millis interval);
  // Saves what is left. Idempotent.
  void stop();

 private:
  void tick();
  void save(store::memory::Collect what);

  store::memory::MemoryLimits& limits_;
  store::LimitArchive& archive_;
  Log& log_;
  runtime::Counter& saved_;
  bool failing_ = false;  // one thread at a time: the ticker's, then stop()'s
  std::optional<runtime::Ticker> ticker_;
};

}  // namespace penstock::daemon
