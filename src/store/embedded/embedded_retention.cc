#include "store/embedded/embedded_retention.h"

#include <rocksdb/iterator.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "core/slots/placement.h"
#include "store/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

// Slots looked at before the view is given back: some 50 ms, even when none of them is old.
constexpr std::size_t kPageSlots = 50'000;

Result<core::Slot> slot_at(const Engine::View& view, const rocksdb::Iterator& rows) {
  Result<EventId> event = EventId::parse("the key of a slot", rows.key().ToStringView());
  if (!event) return fail(ErrorKind::corrupt, view.in_folder(std::move(event.error())).what);
  Result<core::Slot> slot = decode_slot(*event, rows.value().ToStringView());
  if (!slot) return std::unexpected(view.in_folder(std::move(slot.error())));
  return slot;
}

}  // namespace

Result<EmbeddedRetention::Timeline> EmbeddedRetention::timeline_of(const Engine::View& view,
                                                                   const core::Slot& slot) {
  const auto [known, added] = timelines_.try_emplace({slot.config_name, slot.config_version});
  if (!added) return known->second;
  const std::string key = config_key(slot.config_name, slot.config_version);
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(Family::slot_config), key, &value);
  Result<core::SlotConfig> config =
      status.ok() ? decode_config(key, value)
                  : Result<core::SlotConfig>(
                        std::unexpected(view.translate(status, "read the config of a slot")));
  if (!config) {
    timelines_.erase(known);
    return std::unexpected(std::move(config.error()));
  }
  known->second = {config->pool, config->window_size};
  return known->second;
}

Result<EmbeddedRetention::Page> EmbeddedRetention::read(const EventId& after, std::size_t limit,
                                                        Instant bound) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::ReadOptions options;
  options.fill_cache = false;  // a walk over everything must not push the filters out
  const std::unique_ptr<rocksdb::Iterator> rows(
      view->db().NewIterator(options, view->family(Family::event_slot)));
  Page page{.last = after};
  std::size_t seen = 0;
  rows->Seek(after.str());
  if (rows->Valid() && rows->key() == rocksdb::Slice(after.str())) rows->Next();
  for (; rows->Valid() && seen < kPageSlots && page.old.size() < limit; rows->Next(), ++seen) {
    Result<core::Slot> slot = slot_at(*view, *rows);
    if (!slot) return std::unexpected(std::move(slot.error()));
    page.last = slot->event;
    if (slot->window_start >= bound) continue;
    Result<Timeline> timeline = timeline_of(*view, *slot);
    if (!timeline) return std::unexpected(std::move(timeline.error()));
    if (slot->window_start + timeline->size > bound) continue;
    page.old.push_back({std::move(*slot), std::move(*timeline)});
  }
  if (!rows->status().ok()) {
    return std::unexpected(view->translate(rows->status(), "read the slots"));
  }
  page.more = rows->Valid();
  return page;
}

Result<std::size_t> EmbeddedRetention::forget(const std::vector<OldSlot>& old) {
  std::map<std::pair<Timeline, Instant>, std::uint32_t> given_back;
  for (const OldSlot& each : old) ++given_back[{each.timeline, each.slot.window_start}];

  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  const auto note = [&](const rocksdb::Status& next) {
    if (status.ok()) status = next;
  };
  for (const OldSlot& each : old) {
    note(batch.Delete(view->family(Family::event_slot), each.slot.event.str()));
  }
  std::size_t emptied = 0;
  for (const auto& [window, count] : given_back) {
    const auto& [timeline, start] = window;
    const std::string key = window_key(timeline.pool, timeline.size, start);
    std::string value;
    note(view->db().Get(rocksdb::ReadOptions(), view->family(Family::slot_window), key, &value));
    if (!status.ok()) break;
    const Result<std::uint32_t> used = decode_used(value);
    if (!used) return std::unexpected(view->in_folder(used.error()));
    if (*used < count) {
      return fail(ErrorKind::corrupt,
                  "a window counter is smaller than the number of its slots: restore the folder "
                  "from a backup");
    }
    if (*used == count) {
      note(batch.Delete(view->family(Family::slot_window), key));
      ++emptied;
    } else {
      note(batch.Put(view->family(Family::slot_window), key, encode_used(*used - count)));
    }
  }
  if (!status.ok()) return std::unexpected(view->translate(status, "take old slots out"));
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(written.error());
  }
  for (const auto& [window, count] : given_back) {
    const auto& [timeline, start] = window;
    writer_.windows.forget(timeline.pool, timeline.size, core::window_of(start, timeline.size));
  }
  return emptied;
}

Result<PruneReport> EmbeddedRetention::prune(const PruneOptions& options, const Sink& sink,
                                             const std::function<bool()>& should_stop) {
  PENSTOCK_CHECK(options.step_slots > 0);
  const std::lock_guard lock(running_);
  const Instant bound = std::min(options.before, writer_.clock.now());
  PruneReport report;
  EventId after;
  for (bool more = true; more;) {
    if (should_stop && should_stop()) break;
    Result<Page> page = read(after, options.step_slots, bound);
    if (!page) return std::unexpected(std::move(page.error()));
    after = page->last;
    more = page->more;
    if (page->old.empty()) continue;
    if (sink) {
      std::vector<core::Slot> slots;
      for (const OldSlot& each : page->old) slots.push_back(each.slot);
      if (Result<void> kept = sink(slots); !kept) return std::unexpected(std::move(kept.error()));
    }
    const Result<std::size_t> emptied = forget(page->old);
    if (!emptied) return std::unexpected(emptied.error());
    report.slots += page->old.size();
    report.windows += *emptied;
  }
  return report;
}

}  // namespace penstock::store::embedded
