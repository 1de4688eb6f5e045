#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "core/slots/placement.h"
#include "engine/rocksdb/records.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"
#include "store/slots/embedded/slots.h"

namespace penstock::store::embedded {
namespace {

// Slots looked at before the view is given back: some 50 ms, even when none of them is old.
constexpr std::size_t kPageSlots = 50'000;

}  // namespace

Result<EmbeddedRetention::Page> EmbeddedRetention::read(const EventId& after, std::size_t limit,
                                                        Instant bound) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  rocksdb::ReadOptions options;
  options.fill_cache = false;  // a walk over everything must not push the filters out
  Page page{.last = after};
  std::size_t seen = 0;
  Cursor rows(view, Family::event_slot, embedded::after(after.str()), {}, options);
  for (; PENSTOCK_TRY(rows.more()); rows.next(), ++seen) {
    page.more = seen == kPageSlots || page.old.size() == limit;
    if (page.more) break;
    core::Slot slot = PENSTOCK_TRY(view.in_folder(decode_slot_at(rows.key(), rows.value())));
    page.last = slot.event;
    if (slot.window_start >= bound) continue;
    Timeline timeline = PENSTOCK_TRY(timelines_.of(view, slot));
    if (slot.window_start + timeline.size > bound) continue;
    // The others stay as they are once their window has ended, but for being confirmed.
    const bool may_change = slot.confirm_by || is_over(slot);
    page.old.push_back({.slot = std::move(slot),
                        .timeline = std::move(timeline),
                        .record = may_change ? std::string(rows.value()) : std::string(),
                        .counted = holds_place(rows.value())});
  }
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
  return view.check(failure, "read the slots");
}

Result<std::size_t> EmbeddedRetention::forget(std::vector<OldSlot>& old) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  PENSTOCK_TRY(drop_changed(view, old));
  Changes changes(view);
  std::map<std::pair<Timeline, Instant>, std::uint32_t> given_back;
  for (const OldSlot& each : old) {
    const core::Slot& slot = each.slot;
    changes.remove(Family::event_slot, slot.event.str());
    if (slot.status == SlotStatus::assigned && slot.confirm_by) {
      changes.remove_once(Family::slot_term, term_key(*slot.confirm_by, slot.event));
    }
    if (each.counted) ++given_back[{each.timeline, slot.window_start}];
  }
  std::size_t emptied = 0;
  for (const auto& [window, count] : given_back) {
    const auto& [timeline, start] = window;
    const std::string key = window_key(timeline.pool, timeline.size, start);
    const std::optional<std::uint32_t> found =
        PENSTOCK_TRY(view.find(Family::slot_window, key, "take old slots out", decode_used));
    const std::uint32_t used = found.value_or(0);
    if (used < count) {
      return fail(ErrorKind::corrupt,
                  "a window counter is smaller than the number of its slots: restore the folder "
                  "from a backup");
    }
    if (used == count) {
      changes.remove(Family::slot_window, key);
      ++emptied;
    } else {
      changes.put(Family::slot_window, key, encode_used(used - count));
    }
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
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
    Page page = PENSTOCK_TRY(read(after, options.step_slots, bound));
    after = page.last;
    more = page.more;
    if (page.old.empty()) continue;
    if (sink) {
      std::vector<core::Slot> slots;
      for (const OldSlot& each : page.old) slots.push_back(each.slot);
      PENSTOCK_TRY(sink(slots));
    }
    const std::size_t emptied = PENSTOCK_TRY(forget(page.old));
    report.slots += page.old.size();
    report.windows += emptied;
  }
  return report;
}

}  // namespace penstock::store::embedded
