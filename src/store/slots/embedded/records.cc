#include "store/slots/embedded/records.h"

#include <algorithm>
#include <utility>

#include "core/slots/placement.h"
#include "engine/rocksdb/cursor.h"
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
  Cursor cursor(view, Family::slot_window, window_key(pool, size, from),
                window_key(pool, size, to));
  for (; cursor.valid(); cursor.next()) {
    const Result<WindowKey> key = decode_window_key(cursor.key());
    if (!key) return std::unexpected(view.in_folder(key.error()));
    const Result<std::uint32_t> used = decode_used(cursor.value());
    if (!used) return std::unexpected(view.in_folder(used.error()));
    if (*used > 0 && !visit({.start = key->start, .used = *used})) return {};
  }
  return cursor.status();
}

Result<std::optional<SizedWindow>> open_window_of_other_size(const Engine::View& view,
                                                             const PoolName& pool, Millis size,
                                                             Instant now) {
  Cursor cursor(view, Family::slot_window, window_key(pool), behind(window_key(pool)));
  // One stop per size that the pool ever had.
  while (cursor.valid()) {
    const Result<WindowKey> key = decode_window_key(cursor.key());
    if (!key) return std::unexpected(view.in_folder(key.error()));
    if (key->size != size) {
      std::optional<SizedWindow> found;
      // start + size > now, for a start in whole milliseconds.
      const Instant from = cut_to_millis(now - key->size) + Millis{1};
      Result<void> walked =
          each_window(view, pool, key->size, from, kWindowsEnd, [&](const WindowUse& use) {
            found = SizedWindow{key->size, use.start};
            return false;
          });
      if (!walked) return std::unexpected(std::move(walked.error()));
      if (found) return found;
    }
    cursor.seek(behind(window_key(pool, key->size)));
  }
  if (Result<void> status = cursor.status(); !status) return std::unexpected(status.error());
  return std::nullopt;
}

Result<std::vector<core::SlotConfig>> config_versions(const Engine::View& view,
                                                      const ConfigName& name, std::size_t limit) {
  std::vector<core::SlotConfig> versions;
  Cursor cursor(view, Family::slot_config, config_key(name), behind(config_key(name)));
  for (; cursor.valid() && versions.size() < limit; cursor.next()) {
    Result<core::SlotConfig> config = decode_config(cursor.key(), cursor.value());
    if (!config) return std::unexpected(view.in_folder(std::move(config.error())));
    config->active = versions.empty();
    versions.push_back(std::move(*config));
  }
  if (!cursor.valid()) {
    if (Result<void> status = cursor.status(); !status) return std::unexpected(status.error());
  }
  return versions;
}

Result<std::vector<core::SlotConfig>> newest_configs(const Engine::View& view) {
  std::vector<core::SlotConfig> configs;
  Cursor cursor(view, Family::slot_config, "", "");
  while (cursor.valid()) {
    Result<core::SlotConfig> config = decode_config(cursor.key(), cursor.value());
    if (!config) return std::unexpected(view.in_folder(std::move(config.error())));
    config->active = true;
    configs.push_back(std::move(*config));
    cursor.seek(behind(config_key(configs.back().name)));
  }
  if (Result<void> status = cursor.status(); !status) return std::unexpected(status.error());
  return configs;
}

Result<void> put_windows(const Engine::View& view, const WindowCounters& windows,
                         rocksdb::WriteBatch& batch) {
  rocksdb::ColumnFamilyHandle* const family = view.family(Family::slot_window);
  rocksdb::Status status;
  windows.each_changed(
      [&](const PoolName& pool, Millis size, core::WindowIndex window, std::uint32_t used) {
        if (!status.ok()) return;
        const std::string key = window_key(pool, size, core::window_start(window, size));
        status = used > 0 ? batch.Put(family, key, encode_used(used)) : batch.Delete(family, key);
      });
  if (!status.ok()) return std::unexpected(view.translate(status, "write"));
  return {};
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
