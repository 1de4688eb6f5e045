// What this node remembers of configs and full windows, so that the database locks the right pool
// at once and starts its search near the first free window. Only hints: they are sent with the
// config version they were learned under, and the database checks them. Bounded. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/ids.h"
#include "base/time.h"
#include "core/slots/full_runs.h"

namespace penstock::store::postgres {

// One version of a config as the database numbers it.
struct ConfigRef {
  std::int64_t id = 0;    // 0 = none; grows
  std::int32_t pool = 0;  // with its window size
  Millis window_size{0};
};

struct SkipHint {
  Instant to{};             // all windows after the first one and before this are full
  std::int64_t config = 0;  // as long as this is the active version; 0 = no hint
};

class FullHints {
 public:
  static constexpr std::size_t kConfigsMax = 256;
  static constexpr std::size_t kRunsMax = 4'096;  // of 64 bytes, per config

  SkipHint skip(const ConfigName& name, Instant requested) const;
  std::int32_t pool(const ConfigName& name) const;  // 0 = not known
  // The database decided by this version of `name`.
  void saw(const ConfigName& name, const ConfigRef& config);
  // Windows that start in [from, to) are full for this version of `name`.
  void learn(const ConfigName& name, std::int64_t config, Instant from, Instant to);
  // Another server may stand behind the address now, or a config has moved.
  void forget();

 private:
  struct Known {
    ConfigRef config;
    core::FullRuns full{kRunsMax};
  };

  mutable std::mutex mutex_;
  std::unordered_map<ConfigName, Known> known_;  // guarded by mutex_
};

}  // namespace penstock::store::postgres
