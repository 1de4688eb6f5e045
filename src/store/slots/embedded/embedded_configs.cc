#include "store/slots/embedded/embedded_configs.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <utility>

#include "base/iso8601.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {

Result<std::optional<core::SlotConfig>> EmbeddedConfigs::find(const ConfigName& name) {
  const ActiveConfigs::Snapshot config = writer_.configs.find(name);
  if (!config) return std::nullopt;
  return *config;
}

Result<SlotConfigChange> EmbeddedConfigs::put(const core::SlotConfigDraft& draft,
                                              std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());

  const ActiveConfigs::Snapshot previous = writer_.configs.find(draft.name);
  const core::SlotConfig config{
      .name = draft.name,
      .pool = draft.pool.empty() ? PoolName::trusted(draft.name.str()) : draft.pool,
      .max_per_window = draft.max_per_window,
      .window_size = draft.window_size,
      .version = previous ? previous->version + 1 : 1,
      .active = true,
      .effective_from = now.value_or(writer_.clock.now())};
  if (Result<void> allowed = check_window_size(config, config.effective_from); !allowed) {
    return std::unexpected(std::move(allowed.error()));
  }

  {
    const Result<Engine::View> view = writer_.engine.view();
    if (!view) return std::unexpected(view.error());
    rocksdb::WriteBatch batch;
    const rocksdb::Status status =
        batch.Put(view->family(Family::slot_config), config_key(config.name, config.version),
                  encode_config(config));
    if (!status.ok()) return std::unexpected(view->translate(status, "write"));
    if (Result<void> written = writer_.engine.commit(batch); !written) {
      return std::unexpected(std::move(written.error()));
    }
  }
  writer_.configs.set(config);
  SlotConfigChange change{.current = config, .previous = std::nullopt};
  if (previous) {
    change.previous = *previous;
    change.previous->active = false;
  }
  return change;
}

// A pool has one window size: counters of two sizes could not be compared.
Result<void> EmbeddedConfigs::check_window_size(const core::SlotConfig& config, Instant now) {
  if (const ActiveConfigs::Snapshot other =
          writer_.configs.with_other_size(config.pool, config.name, config.window_size)) {
    return fail(
        ErrorKind::conflict,
        fmt::format("pool '{}' has windows of {} (config '{}'): configs that share a pool "
                    "need the same window size",
                    config.pool.str(), format_duration(other->window_size), other->name.str()));
  }
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Result<std::optional<SizedWindow>> blocking =
      open_window_of_other_size(*view, config.pool, config.window_size, now);
  if (!blocking) return std::unexpected(blocking.error());
  if (!*blocking) return {};
  return fail(ErrorKind::conflict,
              fmt::format("pool '{}' holds events in windows of {} that have not ended (the first "
                          "begins at {}): its window size can change once they have",
                          config.pool.str(), format_duration((*blocking)->size),
                          format_instant((*blocking)->start)));
}

Result<std::vector<core::SlotConfig>> EmbeddedConfigs::history(const ConfigName& name,
                                                               std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  return config_versions(*view, name, limit);
}

Result<std::vector<core::SlotConfig>> EmbeddedConfigs::list(const ConfigName& after,
                                                            std::size_t limit) {
  return writer_.configs.list(after, limit);
}

}  // namespace penstock::store::embedded
