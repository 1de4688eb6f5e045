#include "store/slots/embedded/embedded_retention.h"

#include <rocksdb/iterator.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "core/slots/placement.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {
namespace {

// Slots looked at before the view is given back: some 50 ms, even when none of them is old.
constexpr std::size_t kPageSlots = 50'000;

Result<core::Slot> slot_at(const Engine::View& view, const rocksdb::Iterator& rows) {
  Result<EventId> event = decode_event(rows.key().ToStringView());
  if (!event) return std::unexpected(view.in_folder(std::move(event.error())));
  Result<core::Slot> slot = decode_slot(*event, rows.value().ToStringView());
  if (!slot) return std::unexpected(view.in_folder(std::move(slot.error())));
  return slot;
}

}  // namespace

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
    Result<Timeline> timeline = timelines_.of(*view, *slot);
    if (!timeline) return std::unexpected(std::move(timeline.error()));
    if (slot->window_start + timeline->size > bound) continue;
    // The others stay as they are once their window has ended, but for being confirmed.
    const bool may_change = slot->confirm_by || is_over(*slot);
    page.old.push_back({.slot = std::move(*slot),
                        .timeline = std::move(*timeline),
                        .record = may_change ? rows->value().ToString() : std::string(),
                        .counted = holds_place(rows->value().ToStringView())});
  }
  if (!rows->status().ok()) {
    return std::unexpected(view->translate(rows->status(), "read the slots"));
  }
  page.more = rows->Valid();
  return page;
}

Result<void> EmbeddedRetention::drop_changed(const Engine::View& view, std::vector<OldSlot>& old) {
  rocksdb::Status failure;
  std::erase_if(old, [&](const OldSlot& each) {
    if (each.record.empty() || !failure.ok()) return false;
    std::string record;
    const rocksdb::Status status = view.db().Get(
        rocksdb::ReadOptions(), view.family(Family::event_slot), each.slot.event.str(), &record);
    if (!status.ok() && !status.IsNotFound()) failure = status;
    return record != each.record;
  });
  if (!failure.ok()) return std::unexpected(view.translate(failure, "read the slots"));
  return {};
}

Result<std::size_t> EmbeddedRetention::forget(std::vector<OldSlot>& old) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  const auto note = [&](const rocksdb::Status& next) {
    if (status.ok()) status = next;
  };
  if (Result<void> same = drop_changed(*view, old); !same) return std::unexpected(same.error());
  if (old.empty()) return 0;
  std::map<std::pair<Timeline, Instant>, std::uint32_t> given_back;
  for (const OldSlot& each : old) {
    const core::Slot& slot = each.slot;
    note(batch.Delete(view->family(Family::event_slot), slot.event.str()));
    if (slot.status == SlotStatus::assigned && slot.confirm_by) {
      note(batch.SingleDelete(view->family(Family::slot_term),
                              term_key(*slot.confirm_by, slot.event)));
    }
    if (each.counted) ++given_back[{each.timeline, slot.window_start}];
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
