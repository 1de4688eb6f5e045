#include "store/slots/embedded/slots.h"

#include <fmt/format.h>

#include <mutex>
#include <tuple>
#include <utility>

#include "base/iso8601.h"
#include "engine/rocksdb/records.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {

std::vector<Result<Assignment>> EmbeddedSlots::assign(std::span<const SlotRequest> requests,
                                                      std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  // A store that cannot write still answers for events that have their slot; the commit refuses the
  // rest.
  std::ignore = writer_.ready();
  return batch_.run(requests, writer_.at(now));
}

Result<std::vector<std::optional<Slot>>> EmbeddedSlots::find(std::span<const EventId> events) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::vector<rocksdb::Slice> keys;
  keys.reserve(events.size());
  for (const EventId& event : events) keys.emplace_back(event.str());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  view.db().MultiGet(rocksdb::ReadOptions(), view.family(Family::event_slot), keys.size(),
                     keys.data(), values.data(), statuses.data());
  std::vector<std::optional<Slot>> slots;
  slots.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (statuses[i].IsNotFound()) {
      slots.emplace_back();
      continue;
    }
    PENSTOCK_TRY(view.check(statuses[i], "look an event up"));
    Slot slot = PENSTOCK_TRY(view.in_folder(decode_slot(events[i], values[i].ToStringView())));
    slots.emplace_back(std::move(slot));
  }
  return slots;
}

Result<std::vector<WindowUse>> EmbeddedSlots::windows(const WindowRange& range) {
  std::vector<WindowUse> uses;
  if (range.limit == 0) return uses;
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  PENSTOCK_TRY(each_window(view, range.pool, range.window_size, range.from, range.to,
                           [&](const WindowUse& use) {
                             uses.push_back(use);
                             return uses.size() < range.limit;
                           }));
  return uses;
}

Result<std::vector<Slot>> EmbeddedSlots::scan(const EventId& after, std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  rocksdb::ReadOptions options;
  options.fill_cache = false;  // an export must not push the filters out
  return read_range(view, Family::event_slot, embedded::after(after.str()), {}, limit,
                    decode_slot_at, options);
}

Result<std::optional<core::SlotConfig>> EmbeddedConfigs::find(const ConfigName& name) {
  const ActiveConfigs::Snapshot config = writer_.configs.find(name);
  if (!config) return std::nullopt;
  return *config;
}

Result<SlotConfigChange> EmbeddedConfigs::put(const core::SlotConfigDraft& draft,
                                              std::optional<Instant> now) {
  PENSTOCK_TRY(check_record(draft));
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const ActiveConfigs::Snapshot previous = writer_.configs.find(draft.name);
  const core::SlotConfig config = core::config_of(draft, previous ? previous->version + 1 : 1,
                                                  /*active=*/true, writer_.at(now));
  PENSTOCK_TRY(check_window_size(view, config));
  Changes changes(view);
  changes.put(Family::slot_config, config_key(config.name, config.version), encode_config(config));
  PENSTOCK_TRY(changes.commit(writer_.engine));
  writer_.configs.set(config);
  SlotConfigChange change{.current = config, .previous = std::nullopt};
  if (previous) {
    change.previous = *previous;
    change.previous->active = false;
  }
  return change;
}

// A pool has one window size: counters of two sizes could not be compared.
Result<void> EmbeddedConfigs::check_window_size(const Engine::View& view,
                                                const core::SlotConfig& config) {
  if (const ActiveConfigs::Snapshot other =
          writer_.configs.with_other_size(config.pool, config.name, config.window_size)) {
    return fail(
        ErrorKind::conflict,
        fmt::format("pool '{}' has windows of {} (config '{}'): configs that share a pool "
                    "need the same window size",
                    config.pool.str(), format_duration(other->window_size), other->name.str()));
  }
  const std::optional<SizedWindow> blocking = PENSTOCK_TRY(
      open_window_of_other_size(view, config.pool, config.window_size, config.effective_from));
  if (!blocking) return {};
  return fail(ErrorKind::conflict,
              fmt::format("pool '{}' holds events in windows of {} that have not ended (the first "
                          "begins at {}): its window size can change once they have",
                          config.pool.str(), format_duration(blocking->size),
                          format_instant(blocking->start)));
}

Result<std::vector<core::SlotConfig>> EmbeddedConfigs::history(const ConfigName& name,
                                                               std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  return config_versions(view, name, limit);
}

Result<std::vector<core::SlotConfig>> EmbeddedConfigs::list(const ConfigName& after,
                                                            std::size_t limit) {
  return writer_.configs.list(after, limit);
}

}  // namespace penstock::store::embedded
