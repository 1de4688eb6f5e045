// QueueStore::enqueue.
#include <algorithm>
#include <tuple>
#include <utility>

#include "store/queue/postgres/queue.h"

namespace penstock::store::postgres {
namespace {

bool has_slots(std::span<const NewItem> items, const std::vector<std::size_t>& places) {
  return std::ranges::any_of(places,
                             [&](std::size_t place) { return items[place].slot.has_value(); });
}

ItemColumns columns_of(std::span<const NewItem> items, const std::vector<std::size_t>& places) {
  ItemColumns columns;
  for (const std::size_t place : places) columns.add(items[place]);
  return columns;
}

}  // namespace

// For each item of the batch that is the first of its kind.
struct Queue::Answers {
  explicit Answers(std::span<const NewItem> items)
      : answers(items.size(), fail(ErrorKind::corrupt, "no answer")), stored(items.size()) {}

  void created(std::span<const NewItem> items, std::size_t place, Instant scheduled) {
    answers[place] = Enqueued{
        .result = EnqueueResult::created, .state = ItemState::ready, .scheduled = scheduled};
    stored[place] = items[place].digest;
  }
  void known(std::span<const NewItem> items, std::size_t place, const KnownItem& item) {
    answers[place] = met(item, items[place].digest);
    stored[place] = item.digest;
  }
  // A later item of the same kind meets the first.
  Result<Enqueued> again(std::size_t first, const BodyDigest& digest) const {
    if (!answers[first]) return answers[first];
    return met({.digest = stored[first],
                .scheduled = answers[first]->scheduled,
                .state = answers[first]->state},
               digest);
  }

  std::vector<Result<Enqueued>> answers;
  std::vector<BodyDigest> stored;
};

DatabaseResult<Queue::Answers> Queue::enqueue_plain(std::span<const NewItem> items,
                                                    const Places& places,
                                                    std::optional<Instant> now, LookUp look_up,
                                                    const runtime::Deadline& deadline) {
  Earliest earliest;
  for (const std::size_t place : places) earliest.add(items[place].type, items[place].due);
  const ItemColumns all = columns_of(items, places);
  const Call calls[] = {
      call("enqueue_items", all.types, all.item_types, all.ids, all.due_us, Bytes{all.contexts},
           Bytes{all.digests}, look_up == LookUp::trust, now),
      earliest.announcement(now)};
  auto answered = database_.run(calls, deadline);
  earliest.lower(hints_);  // whatever the answer was, they may be there
  const std::vector<Rows> rows = PENSTOCK_TRY(std::move(answered));
  Answers answers(items);
  for (const std::size_t place : places) answers.created(items, place, items[place].due);
  for (const KnownItem& known : known_items(rows.front(), 0)) {
    answers.known(items, places[known.place], known);
  }
  return answers;
}

DatabaseResult<Queue::Answers> Queue::enqueue_slots(std::span<const NewItem> items,
                                                    const Places& places,
                                                    std::optional<Instant> now, LookUp look_up,
                                                    const runtime::Deadline& deadline) {
  Places in_order;  // slots are given in the order of the batch
  for (const std::size_t place : places) {
    if (items[place].slot) in_order.push_back(place);
  }
  std::ranges::sort(in_order);
  std::vector<SlotRequest> requests;
  for (const std::size_t place : in_order) requests.push_back(*items[place].slot);
  auto placed = slots_.place(requests, columns_of(items, places), now, look_up, deadline);
  if (!placed) {
    // The outcome may be unknown, and with it the times.
    hints_.forget();
    return std::unexpected(std::move(placed.error()));
  }
  Answers answers(items);
  Earliest earliest;
  const auto created = [&](std::size_t place, Instant scheduled) {
    answers.created(items, place, scheduled);
    earliest.add(items[place].type, scheduled);
  };
  for (const std::size_t place : places) {
    if (!items[place].slot) created(place, items[place].due);
  }
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    Result<Assignment>& assignment = placed->assignments[i];
    if (assignment) {
      created(in_order[i], assignment->slot.scheduled);
    } else {
      answers.answers[in_order[i]] = std::unexpected(std::move(assignment.error()));
    }
  }
  for (const KnownItem& known : placed->known) answers.known(items, places[known.place], known);
  earliest.lower(hints_);
  // They are there and durable; a dispatcher that hears nothing looks by itself.
  const Call news[] = {earliest.announcement(now)};
  if (!earliest.types.empty()) std::ignore = database_.run(news, deadline);
  return answers;
}

DatabaseResult<Queue::Answers> Queue::enqueue_once(std::span<const NewItem> items,
                                                   const Places& firsts, std::optional<Instant> now,
                                                   LookUp look_up,
                                                   const runtime::Deadline& deadline) {
  if (!has_slots(items, firsts)) return enqueue_plain(items, firsts, now, look_up, deadline);
  // An item that is there must not be given a slot.
  const ItemColumns all = columns_of(items, firsts);
  const Call look[] = {call("known_items", all.types, all.item_types, all.ids)};
  const std::vector<Rows> rows = PENSTOCK_TRY(database_.run(look, deadline));
  const std::vector<KnownItem> known = known_items(rows.front(), 0);
  Places places = firsts;
  for (auto item = known.rbegin(); item != known.rend(); ++item) {
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(item->place));
  }
  DatabaseResult<Answers> answers = Answers(items);
  if (has_slots(items, places)) {
    answers = enqueue_slots(items, places, now, look_up, deadline);
  } else if (!places.empty()) {
    answers = enqueue_plain(items, places, now, look_up, deadline);
  }
  if (!answers) return answers;
  for (const KnownItem& item : known) answers->known(items, firsts[item.place], item);
  return answers;
}

std::vector<Result<Enqueued>> Queue::enqueue(std::span<const NewItem> items,
                                             std::optional<Instant> now) {
  if (items.empty()) return {};
  const runtime::Deadline deadline = database_.deadline();
  const Distinct distinct(items, [](const NewItem& item) { return std::tie(item.type, item.id); });
  auto done = doubt_.send(
      deadline,
      [&](LookUp look_up) {
        return enqueue_once(items, distinct.firsts(), now, look_up, deadline);
      },
      Database::again,
      [&](const Answers& answer) {
        return std::ranges::all_of(distinct.firsts(), [&](std::size_t place) {
          const Result<Enqueued>& each = answer.answers[place];
          return each && each->result == EnqueueResult::created;
        });
      });
  if (!done) return std::vector<Result<Enqueued>>(items.size(), std::unexpected(done.error()));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t first = distinct.first_of(i);
    if (first != i) done->answers[i] = done->again(first, items[i].digest);
  }
  return std::move(done->answers);
}

}  // namespace penstock::store::postgres
