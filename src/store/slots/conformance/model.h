// The contract of SlotStore and SlotConfigStore as plainly as it can be written: maps in memory
// around core::place, with no index, no cache and no batch. What a backend answers must equal what
// this answers. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/placement.h"
#include "core/slots/slot_config.h"
#include "store/slots/ports.h"

namespace penstock::store::conformance {

class Model {
 public:
  Result<Assignment> assign(const SlotRequest& request, Instant now) {
    if (const auto known = slots_.find(request.event); known != slots_.end()) {
      return Assignment{.slot = known->second};
    }
    const std::optional<core::SlotConfig> config = active(request.config_name);
    if (!config) return fail(ErrorKind::not_found, "no such config");
    core::FullRuns nothing_known;
    const std::optional<core::Placement> placement =
        core::place({.requested = request.requested,
                     .max_delay = request.max_delay,
                     .max_per_window = config->max_per_window,
                     .window_size = config->window_size,
                     .entropy = request.entropy},
                    nothing_known, [&](core::WindowIndex window) {
                      const auto found = used_.find({config->pool, config->window_size, window});
                      return found == used_.end() ? 0 : found->second;
                    });
    if (!placement) return fail(ErrorKind::exhausted, "no room");
    ++used_[{config->pool, config->window_size, placement->window}];
    const Slot slot{.event = request.event,
                    .config_name = request.config_name,
                    .config_version = config->version,
                    .requested = request.requested,
                    .window_start = placement->window_start,
                    .scheduled = placement->scheduled,
                    .created = now};
    slots_.emplace(request.event, slot);
    return Assignment{.slot = slot, .fresh = true, .depth = placement->depth};
  }

  Result<SlotConfigChange> put(const core::SlotConfigDraft& draft, Instant now) {
    for (const auto& [name, versions] : configs_) {
      if (name != draft.name && versions.back().pool == draft.pool &&
          versions.back().window_size != draft.window_size) {
        return fail(ErrorKind::conflict, "another config of the pool has another size");
      }
    }
    for (const auto& [key, count] : used_) {
      const auto& [pool, size, window] = key;
      if (pool == draft.pool && size != draft.window_size && count > 0 &&
          core::window_start(window, size) + size > now) {
        return fail(ErrorKind::conflict, "the pool holds open windows of another size");
      }
    }
    SlotConfigChange change;
    std::vector<core::SlotConfig>& versions = configs_[draft.name];
    if (!versions.empty()) {
      versions.back().active = false;
      change.previous = versions.back();
    }
    change.current = {.name = draft.name,
                      .pool = draft.pool,
                      .max_per_window = draft.max_per_window,
                      .window_size = draft.window_size,
                      .version = static_cast<std::int64_t>(versions.size()) + 1,
                      .active = true,
                      .effective_from = now};
    versions.push_back(change.current);
    return change;
  }

  std::optional<core::SlotConfig> active(const ConfigName& name) const {
    const auto found = configs_.find(name);
    if (found == configs_.end()) return std::nullopt;
    return found->second.back();
  }

  std::vector<core::SlotConfig> history(const ConfigName& name) const {
    const auto found = configs_.find(name);
    if (found == configs_.end()) return {};
    return {found->second.rbegin(), found->second.rend()};
  }

  std::vector<core::SlotConfig> list() const {
    std::vector<core::SlotConfig> configs;
    for (const auto& [name, versions] : configs_) configs.push_back(versions.back());
    return configs;
  }

  std::optional<Slot> find(const EventId& event) const {
    const auto found = slots_.find(event);
    return found == slots_.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<WindowUse> windows(const PoolName& pool, Millis size, Instant from,
                                 Instant to) const {
    std::vector<WindowUse> uses;
    for (const auto& [key, count] : used_) {
      const Instant start = core::window_start(std::get<2>(key), size);
      if (std::get<0>(key) == pool && std::get<1>(key) == size && start >= from && start < to) {
        uses.push_back({.start = start, .used = count});
      }
    }
    return uses;
  }

  std::vector<Slot> scan() const {
    std::vector<Slot> all;
    for (const auto& [event, slot] : slots_) all.push_back(slot);
    return all;
  }

 private:
  std::map<EventId, Slot> slots_;
  std::map<ConfigName, std::vector<core::SlotConfig>> configs_;  // ascending by version
  std::map<std::tuple<PoolName, Millis, core::WindowIndex>, std::int64_t> used_;
};

}  // namespace penstock::store::conformance
