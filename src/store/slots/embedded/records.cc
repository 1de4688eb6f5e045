#include "store/slots/embedded/records.h"

#include <algorithm>
#include <utility>

#include "core/slots/placement.h"
#include "engine/rocksdb/records.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

// No window begins here or later: a search ends kMaxDelayMax after the last accepted instant.
constexpr Instant kWindowsEnd = kInstantEnd + core::kMaxDelayMax;

// The first instant in whole milliseconds, as window starts are, at or after `instant`; within the
// times that windows can have.
Instant at_or_after(Instant instant) {
  const Instant bounded = std::clamp(instant, kInstantMin, kWindowsEnd);
  return Instant{std::chrono::ceil<Millis>(bounded.time_since_epoch())};
}

}  // namespace

Result<void> each_window(const Engine::View& view, const PoolName& pool, Millis size, Instant from,
                         Instant to, const std::function<bool(const WindowUse&)>& visit) {
  from = at_or_after(from);
  to = at_or_after(to);
  if (from >= to) return {};
  Cursor rows(view, Family::slot_window, window_key(pool, size, from), window_key(pool, size, to));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    const WindowKey key = PENSTOCK_TRY(view.in_folder(decode_window_key(rows.key())));
    const std::uint32_t used = PENSTOCK_TRY(view.in_folder(decode_used(rows.value())));
    if (used > 0 && !visit({.start = key.start, .used = used})) return {};
  }
  return {};
}

Result<std::optional<SizedWindow>> open_window_of_other_size(const Engine::View& view,
                                                             const PoolName& pool, Millis size,
                                                             Instant now) {
  Cursor rows(view, Family::slot_window, window_key(pool), behind(window_key(pool)));
  // One stop per size that the pool ever had.
  while (PENSTOCK_TRY(rows.more())) {
    const WindowKey key = PENSTOCK_TRY(view.in_folder(decode_window_key(rows.key())));
    if (key.size != size) {
      std::optional<SizedWindow> found;
      // start + size > now, for a start in whole milliseconds.
      const Instant from = cut_to_millis(now - key.size) + Millis{1};
      PENSTOCK_TRY(each_window(view, pool, key.size, from, kWindowsEnd, [&](const WindowUse& use) {
        found = SizedWindow{key.size, use.start};
        return false;
      }));
      if (found) return found;
    }
    rows.seek(behind(window_key(pool, key.size)));
  }
  return std::nullopt;
}

Result<std::vector<core::SlotConfig>> config_versions(const Engine::View& view,
                                                      const ConfigName& name, std::size_t limit) {
  std::vector<core::SlotConfig> versions = PENSTOCK_TRY(read_range(
      view, Family::slot_config, config_key(name), behind(config_key(name)), limit, decode_config));
  if (!versions.empty()) versions.front().active = true;
  return versions;
}

Result<std::vector<core::SlotConfig>> newest_configs(const Engine::View& view) {
  std::vector<core::SlotConfig> configs = PENSTOCK_TRY(
      read_first_of_each(view, Family::slot_config, decode_config,
                         [](const core::SlotConfig& config) { return config_key(config.name); }));
  for (core::SlotConfig& config : configs) config.active = true;
  return configs;
}

void put_windows(const WindowCounters& windows, Changes& changes) {
  windows.each_changed(
      [&](const PoolName& pool, Millis size, core::WindowIndex window, std::uint32_t used) {
        const std::string key = window_key(pool, size, core::window_start(window, size));
        if (used > 0) {
          changes.put(Family::slot_window, key, encode_used(used));
        } else {
          changes.remove(Family::slot_window, key);
        }
      });
}

Result<void> WindowRecords::each(const PoolName& pool, Millis size, core::WindowIndex begin,
                                 core::WindowIndex end, const Visit& visit) {
  return each_window(view_, pool, size, core::window_start(begin, size),
                     core::window_start(end, size), [&](const WindowUse& use) {
                       return visit(core::window_of(use.start, size),
                                    static_cast<std::uint32_t>(use.used));
                     });
}

}  // namespace penstock::store::embedded
