#include "store/slots/embedded/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "core/slots/placement.h"
#include "engine/rocksdb/records.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {
namespace {

// The changes of one call. Places that were given back and not committed are taken again when it
// goes.
class Step {
 public:
  Step(Writer& writer, const Engine::View& view) : writer_(writer), view_(view), changes_(view) {}
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() {
    if (gave_back_) writer_.windows.drop();
  }

  Result<std::optional<Slot>> find(const EventId& event) const;
  // One that is neither RELEASED nor EXPIRED.
  Result<Slot> held(const EventId& event) const;
  Result<void> give_back(const Slot& slot);
  void forget_term(Instant confirm_by, const EventId& event);
  void put(const Slot& slot, bool place_kept = false);
  Result<void> expire(const TermKey& term, Instant now);
  Result<void> commit();

 private:
  Writer& writer_;
  const Engine::View& view_;
  Changes changes_;
  bool gave_back_ = false;  // and it is not committed
};

Result<std::optional<Slot>> Step::find(const EventId& event) const {
  return view_.find(Family::event_slot, event.str(), "look the event up",
                    [&](std::string_view value) { return decode_slot(event, value); });
}

Result<Slot> Step::held(const EventId& event) const {
  std::optional<Slot> slot = PENSTOCK_TRY(find(event));
  if (!slot) {
    return fail(ErrorKind::not_found, fmt::format("event '{}' has no slot", core::shown_id(event)));
  }
  if (is_over(*slot)) {
    return fail(ErrorKind::conflict,
                fmt::format("the slot of event '{}' is {}", core::shown_id(event),
                            core::to_string(slot->status)));
  }
  return std::move(*slot);
}

Result<void> Step::give_back(const Slot& slot) {
  const Timeline timeline = PENSTOCK_TRY(writer_.timelines.of(view_, slot));
  WindowRecords source(view_);
  PENSTOCK_TRY(view_.in_folder(writer_.windows.give_back(
      timeline.pool, timeline.size, core::window_of(slot.window_start, timeline.size), source)));
  gave_back_ = true;
  return {};
}

void Step::forget_term(Instant confirm_by, const EventId& event) {
  changes_.remove_once(Family::slot_term, term_key(confirm_by, event));
}

void Step::put(const Slot& slot, bool place_kept) {
  std::string value;
  encode_slot(slot, value, place_kept);
  changes_.put(Family::event_slot, slot.event.str(), value);
}

Result<void> Step::expire(const TermKey& term, Instant now) {
  std::optional<Slot> found = PENSTOCK_TRY(find(term.event));
  if (!found || found->status != SlotStatus::assigned || found->confirm_by != term.confirm_by) {
    return view_.in_folder(Result<void>(
        fail(ErrorKind::corrupt, fmt::format("event '{}' has a term and no slot of it: "
                                             "restore the folder from a backup",
                                             core::shown_id(term.event)))));
  }
  Slot& slot = *found;
  const bool begun = now >= slot.window_start;
  if (!begun) PENSTOCK_TRY(give_back(slot));
  slot.status = SlotStatus::expired;
  forget_term(term.confirm_by, term.event);
  put(slot, /*place_kept=*/begun);
  return {};
}

Result<void> Step::commit() {
  if (gave_back_) put_windows(writer_.windows, changes_);
  PENSTOCK_TRY(changes_.commit(writer_.engine));
  if (std::exchange(gave_back_, false)) writer_.windows.committed();
  return {};
}

}  // namespace

Result<core::Slot> EmbeddedLife::confirm(const EventId& event, std::optional<Instant> /*now*/) {
  const std::lock_guard lock(writer_.mutex);
  std::ignore = writer_.ready();  // as assign(): what needs no write is answered all the same
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Step step(writer_, view);
  Result<Slot> slot = step.held(event);
  if (!slot || slot->status == SlotStatus::confirmed) return slot;
  slot->status = SlotStatus::confirmed;
  if (slot->confirm_by) step.forget_term(*std::exchange(slot->confirm_by, std::nullopt), event);
  step.put(*slot);
  PENSTOCK_TRY(step.commit());
  return slot;
}

Result<core::Slot> EmbeddedLife::release(const EventId& event, std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  std::ignore = writer_.ready();
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  Step step(writer_, view);
  Slot slot = PENSTOCK_TRY(step.held(event));
  if (writer_.at(now) >= slot.window_start) {
    return fail(ErrorKind::conflict,
                fmt::format("the window of event '{}' has begun", core::shown_id(event)));
  }
  PENSTOCK_TRY(step.give_back(slot));
  slot.status = SlotStatus::released;
  if (slot.confirm_by) step.forget_term(*std::exchange(slot.confirm_by, std::nullopt), event);
  step.put(slot);
  PENSTOCK_TRY(step.commit());
  return slot;
}

Result<std::size_t> EmbeddedLife::expire(std::size_t limit, std::optional<Instant> now) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const Instant moment = writer_.at(now);
  Step step(writer_, view);
  std::size_t expired = 0;
  Instant walked_to = moment;
  Cursor rows(view, Family::slot_term, term_key(writer_.terms_from), term_key(moment));
  for (; PENSTOCK_TRY(rows.more()); rows.next(), ++expired) {
    const TermKey term = PENSTOCK_TRY(view.in_folder(decode_term_key(rows.key())));
    if (expired == limit) {
      walked_to = term.confirm_by;
      break;
    }
    PENSTOCK_TRY(step.expire(term, moment));
  }
  PENSTOCK_TRY(step.commit());
  writer_.terms_from = std::max(writer_.terms_from, walked_to);
  return expired;
}

}  // namespace penstock::store::embedded
