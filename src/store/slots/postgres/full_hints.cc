#include "store/slots/postgres/full_hints.h"

#include "core/slots/placement.h"

namespace penstock::store::postgres {

SkipHint FullHints::skip(const ConfigName& name, Instant requested) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  if (found == known_.end()) return {};
  const Millis size = found->second.config.window_size;
  const core::WindowIndex first = core::window_of(requested, size);
  return {.to = core::window_start(found->second.full.first_gap(first + 1), size),
          .config = found->second.config.id};
}

std::int32_t FullHints::pool(const ConfigName& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  return found == known_.end() ? 0 : found->second.config.pool;
}

void FullHints::saw(const ConfigName& name, const ConfigRef& config) {
  const std::lock_guard lock(mutex_);
  auto found = known_.find(name);
  if (found == known_.end()) {
    if (known_.size() >= kConfigsMax) known_.clear();
    found = known_.try_emplace(name).first;
  }
  Known& known = found->second;
  // Versions only grow; an answer that was overtaken by a newer one teaches nothing.
  if (config.id <= known.config.id) return;
  known.config = config;
  known.full.clear();
}

void FullHints::learn(const ConfigName& name, std::int64_t config, Instant from, Instant to) {
  if (from >= to) return;
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  if (found == known_.end() || found->second.config.id != config) return;
  const Millis size = found->second.config.window_size;
  found->second.full.insert(core::window_of(from, size), core::window_of(to, size));
}

void FullHints::forget() {
  const std::lock_guard lock(mutex_);
  known_.clear();
}

}  // namespace penstock::store::postgres
