#include "store/slots/embedded/embedded_life.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "core/slots/placement.h"
#include "engine/rocksdb/cursor.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {
namespace {

// The changes of one call. Places that were given back and not committed are taken again when it
// goes.
class Step {
 public:
  Step(Writer& writer, const Engine::View& view) : writer_(writer), view_(view) {}
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
  void keep(const rocksdb::Status& status) {
    if (status_.ok()) status_ = status;
  }

  Writer& writer_;
  const Engine::View& view_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;  // the first that failed
  bool gave_back_ = false;  // and it is not committed
};

Result<std::optional<Slot>> Step::find(const EventId& event) const {
  std::string value;
  const rocksdb::Status status =
      view_.db().Get(rocksdb::ReadOptions(), view_.family(Family::event_slot), event.str(), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(view_.translate(status, "look the event up"));
  Result<Slot> slot = decode_slot(event, value);
  if (!slot) return std::unexpected(view_.in_folder(std::move(slot.error())));
  return std::move(*slot);
}

Result<Slot> Step::held(const EventId& event) const {
  Result<std::optional<Slot>> slot = find(event);
  if (!slot) return std::unexpected(std::move(slot.error()));
  if (!*slot) {
    return fail(ErrorKind::not_found, fmt::format("event '{}' has no slot", core::shown_id(event)));
  }
  if (is_over(**slot)) {
    return fail(ErrorKind::conflict,
                fmt::format("the slot of event '{}' is {}", core::shown_id(event),
                            core::to_string((*slot)->status)));
  }
  return std::move(**slot);
}

Result<void> Step::give_back(const Slot& slot) {
  const Result<Timeline> timeline = writer_.timelines.of(view_, slot);
  if (!timeline) return std::unexpected(timeline.error());
  WindowRecords source(view_);
  Result<void> given = writer_.windows.give_back(
      timeline->pool, timeline->size, core::window_of(slot.window_start, timeline->size), source);
  if (!given) return std::unexpected(view_.in_folder(std::move(given.error())));
  gave_back_ = true;
  return {};
}

void Step::forget_term(Instant confirm_by, const EventId& event) {
  keep(batch_.SingleDelete(view_.family(Family::slot_term), term_key(confirm_by, event)));
}

void Step::put(const Slot& slot, bool place_kept) {
  std::string value;
  encode_slot(slot, value, place_kept);
  keep(batch_.Put(view_.family(Family::event_slot), slot.event.str(), value));
}

Result<void> Step::expire(const TermKey& term, Instant now) {
  Result<std::optional<Slot>> found = find(term.event);
  if (!found) return std::unexpected(std::move(found.error()));
  if (!*found || (*found)->status != SlotStatus::assigned ||
      (*found)->confirm_by != term.confirm_by) {
    return fail(ErrorKind::corrupt,
                view_
                    .in_folder({.kind = ErrorKind::corrupt,
                                .what = fmt::format("event '{}' has a term and no slot of it: "
                                                    "restore the folder from a backup",
                                                    core::shown_id(term.event))})
                    .what);
  }
  Slot& slot = **found;
  const bool begun = now >= slot.window_start;
  if (!begun) {
    if (Result<void> given = give_back(slot); !given) return given;
  }
  slot.status = SlotStatus::expired;
  forget_term(term.confirm_by, term.event);
  put(slot, /*place_kept=*/begun);
  return {};
}

Result<void> Step::commit() {
  if (!status_.ok()) return std::unexpected(view_.translate(status_, "write"));
  if (batch_.Count() == 0) return {};
  if (gave_back_) {
    if (Result<void> put = put_windows(view_, writer_.windows, batch_); !put) return put;
  }
  if (Result<void> written = writer_.engine.commit(batch_); !written) return written;
  if (std::exchange(gave_back_, false)) writer_.windows.committed();
  return {};
}

}  // namespace

Result<core::Slot> EmbeddedLife::confirm(const EventId& event, std::optional<Instant> /*now*/) {
  const std::lock_guard lock(writer_.mutex);
  std::ignore = writer_.ready();  // as assign(): what needs no write is answered all the same
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Step step(writer_, *view);
  Result<Slot> slot = step.held(event);
  if (!slot || slot->status == SlotStatus::confirmed) return slot;
  slot->status = SlotStatus::confirmed;
  if (slot->confirm_by) step.forget_term(*std::exchange(slot->confirm_by, std::nullopt), event);
  step.put(*slot);
  if (Result<void> done = step.commit(); !done) return std::unexpected(std::move(done.error()));
  return slot;
}

Result<core::Slot> EmbeddedLife::release(const EventId& event, std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  std::ignore = writer_.ready();
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  Step step(writer_, *view);
  Result<Slot> slot = step.held(event);
  if (!slot) return slot;
  if (now.value_or(writer_.clock.now()) >= slot->window_start) {
    return fail(ErrorKind::conflict,
                fmt::format("the window of event '{}' has begun", core::shown_id(event)));
  }
  if (Result<void> given = step.give_back(*slot); !given) return std::unexpected(given.error());
  slot->status = SlotStatus::released;
  if (slot->confirm_by) step.forget_term(*std::exchange(slot->confirm_by, std::nullopt), event);
  step.put(*slot);
  if (Result<void> done = step.commit(); !done) return std::unexpected(std::move(done.error()));
  return slot;
}

Result<std::size_t> EmbeddedLife::expire(std::size_t limit, std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Instant moment = now.value_or(writer_.clock.now());
  Step step(writer_, *view);
  std::size_t expired = 0;
  Instant walked_to = moment;
  Cursor cursor(*view, Family::slot_term, term_key(writer_.terms_from), term_key(moment));
  for (; cursor.valid(); cursor.next(), ++expired) {
    const Result<TermKey> term = decode_term_key(cursor.key());
    if (!term) return std::unexpected(view->in_folder(term.error()));
    if (expired == limit) {
      walked_to = term->confirm_by;
      break;
    }
    if (Result<void> done = step.expire(*term, moment); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  if (Result<void> status = cursor.status(); !status) return std::unexpected(status.error());
  if (Result<void> done = step.commit(); !done) return std::unexpected(std::move(done.error()));
  writer_.terms_from = std::max(writer_.terms_from, walked_to);
  return expired;
}

}  // namespace penstock::store::embedded
