#include "service/slots/config_cache.h"

#include <utility>

namespace penstock::service {

ConfigCache::ConfigCache(store::SlotConfigStore& store, const Clock& clock, Log& log,
                         runtime::Metrics& metrics)
    : store_(store),
      clock_(clock),
      log_(log),
      hits_(metrics.counter("rate_limiter_config_cache_hits_total",
                            "Slot config look-ups answered from memory")),
      misses_(metrics.counter("rate_limiter_config_cache_misses_total",
                              "Slot config look-ups that asked the store")) {}

Result<std::shared_ptr<const core::SlotConfig>> ConfigCache::find(const ConfigName& name) {
  const Instant now = clock_.now();
  std::uint64_t changes_before = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    // A clock that went backwards must not keep an entry alive, hence the lower bound.
    if (found != entries_.end() && found->second.loaded <= now &&
        now - found->second.loaded < kTtl) {
      hits_.add();
      return found->second.config;
    }
    changes_before = changes_;
  }
  misses_.add();
  std::optional<core::SlotConfig> loaded = PENSTOCK_TRY(store_.find(name));
  Entry entry{.loaded = now};
  if (loaded) {
    entry.config = std::make_shared<const core::SlotConfig>(std::move(*loaded));
    log_.debug("slots.config_loaded", {{"config", name.str()},
                                       {"version", entry.config->version},
                                       {"max_per_window", entry.config->max_per_window}});
  }
  const std::lock_guard lock(mutex_);
  if (changes_ == changes_before) keep(name, entry);
  return entry.config;
}

void ConfigCache::remember(const core::SlotConfig& config) {
  Entry entry{std::make_shared<const core::SlotConfig>(config), clock_.now()};
  const std::lock_guard lock(mutex_);
  ++changes_;
  const auto known = entries_.find(config.name);
  const bool older = known != entries_.end() && known->second.config &&
                     known->second.config->version > config.version;
  if (!older) keep(config.name, std::move(entry));
}

void ConfigCache::forget(const ConfigName& name) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  entries_.erase(name);
}

void ConfigCache::flush() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  entries_.clear();
}

void ConfigCache::keep(const ConfigName& name, Entry entry) {
  if (entries_.size() >= kNamesMax && !entries_.contains(name)) entries_.clear();
  entries_.insert_or_assign(name, std::move(entry));
}

}  // namespace penstock::service
