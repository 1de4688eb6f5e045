// The active slot configs as this node last saw them, for reads and previews; assignments go by
// what the store has. An entry is trusted for `kTtl`; names that do not exist are remembered too,
// or a flood of made-up names would reach the store each time. Bounded. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot_config.h"
#include "runtime/metrics.h"
#include "store/slots/ports.h"

namespace penstock::service {

class ConfigCache {
 public:
  static constexpr Millis kTtl = Seconds{5};  // the predecessors' value
  // About 300 bytes each: 3 MB at most. Past it the cache starts over, which costs one look-up
  // each.
  static constexpr std::size_t kNamesMax = 10'000;

  // All must outlive the cache.
  ConfigCache(store::SlotConfigStore& store, const Clock& clock, Log& log,
              runtime::Metrics& metrics);

  // Null when there is no such config; an error when the store could not tell.
  Result<std::shared_ptr<const core::SlotConfig>> find(const ConfigName& name);

  // What this node itself just changed.
  void remember(const core::SlotConfig& config);
  // What another node may have changed: one config, or all of them.
  void forget(const ConfigName& name);
  void flush();

 private:
  struct Entry {
    std::shared_ptr<const core::SlotConfig> config;
    Instant loaded{};
  };

  void keep(const ConfigName& name, Entry entry);  // under mutex_

  store::SlotConfigStore& store_;
  const Clock& clock_;
  Log& log_;
  runtime::Counter& hits_;
  runtime::Counter& misses_;

  std::mutex mutex_;
  std::unordered_map<ConfigName, Entry> entries_;  // guarded by mutex_
  std::uint64_t changes_ = 0;  // guarded by mutex_; a load that a change overtook is not kept
};

}  // namespace penstock::service
