#include "store/slots/embedded/embedded_slots.h"

#include <rocksdb/iterator.h>

#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {

std::vector<Result<Assignment>> EmbeddedSlots::assign(std::span<const SlotRequest> requests,
                                                      std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  // A store that cannot write still answers for events that have their slot; the commit refuses the
  // rest.
  std::ignore = writer_.ready();
  return batch_.run(requests, now.value_or(writer_.clock.now()));
}

Result<std::vector<std::optional<Slot>>> EmbeddedSlots::find(std::span<const EventId> events) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::vector<rocksdb::Slice> keys;
  keys.reserve(events.size());
  for (const EventId& event : events) keys.emplace_back(event.str());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  view->db().MultiGet(rocksdb::ReadOptions(), view->family(Family::event_slot), keys.size(),
                      keys.data(), values.data(), statuses.data());
  std::vector<std::optional<Slot>> slots;
  slots.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (statuses[i].IsNotFound()) {
      slots.emplace_back();
      continue;
    }
    if (!statuses[i].ok()) return std::unexpected(view->translate(statuses[i], "look an event up"));
    Result<Slot> slot = decode_slot(events[i], {values[i].data(), values[i].size()});
    if (!slot) return std::unexpected(view->in_folder(std::move(slot.error())));
    slots.emplace_back(std::move(*slot));
  }
  return slots;
}

Result<std::vector<WindowUse>> EmbeddedSlots::windows(const WindowRange& range) {
  std::vector<WindowUse> uses;
  if (range.limit == 0) return uses;
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Result<void> walked = each_window(*view, range.pool, range.window_size, range.from, range.to,
                                    [&](const WindowUse& use) {
                                      uses.push_back(use);
                                      return uses.size() < range.limit;
                                    });
  if (!walked) return std::unexpected(std::move(walked.error()));
  return uses;
}

Result<std::vector<Slot>> EmbeddedSlots::scan(const EventId& after, std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::ReadOptions options;
  options.fill_cache = false;  // an export must not push the filters out
  const std::unique_ptr<rocksdb::Iterator> rows(
      view->db().NewIterator(options, view->family(Family::event_slot)));
  std::vector<Slot> slots;
  rows->Seek(after.str());
  if (rows->Valid() && rows->key() == rocksdb::Slice(after.str())) rows->Next();
  for (; rows->Valid() && slots.size() < limit; rows->Next()) {
    const rocksdb::Slice value = rows->value();
    Result<EventId> event = decode_event(rows->key().ToStringView());
    if (!event) return std::unexpected(view->in_folder(std::move(event.error())));
    Result<Slot> slot = decode_slot(*event, value.ToStringView());
    if (!slot) return std::unexpected(view->in_folder(std::move(slot.error())));
    slots.push_back(std::move(*slot));
  }
  if (!rows->status().ok())
    return std::unexpected(view->translate(rows->status(), "read the slots"));
  return slots;
}

}  // namespace penstock::store::embedded
