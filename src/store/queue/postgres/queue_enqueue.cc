// QueueStore::enqueue.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/postgres/calls.h"
#include "store/queue/postgres/due_times.h"
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
  const Call calls[] = {
      {.sql = statement("enqueue_items"),
       .params = columns_of(items, places).for_enqueue(look_up == LookUp::trust, now)},
      earliest.announcement(now)};
  const auto rows = run_calls(pool_, calls, deadline);
  earliest.lower(hints_);  // whatever the answer was, they may be there
  if (!rows) return std::unexpected(rows.error());
  Answers answers(items);
  for (const std::size_t place : places) answers.created(items, place, items[place].due);
  for (const KnownItem& known : known_items(rows->front(), 0)) {
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
  if (!earliest.types.empty()) {
    std::ignore = run_call(pool_, earliest.announcement(now), deadline);
  }
  return answers;
}

DatabaseResult<Queue::Answers> Queue::enqueue_once(std::span<const NewItem> items,
                                                   const Places& firsts, std::optional<Instant> now,
                                                   LookUp look_up,
                                                   const runtime::Deadline& deadline) {
  if (!has_slots(items, firsts)) return enqueue_plain(items, firsts, now, look_up, deadline);
  // An item that is there must not be given a slot.
  const Call look{.sql = statement("known_items"), .params = columns_of(items, firsts).for_look()};
  const auto rows = run_calls(pool_, {&look, 1}, deadline);
  if (!rows) return std::unexpected(rows.error());
  const std::vector<KnownItem> known = known_items(rows->front(), 0);
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
  const runtime::Deadline deadline(deadline_);
  const DistinctItems distinct(items);
  const bool doubtful = doubt_.is_there();
  for (int tried = 1;; ++tried) {
    const LookUp at_first = doubtful ? LookUp::before : LookUp::trust;
    auto done = enqueue_once(items, distinct.firsts(), now, tried == 1 ? at_first : LookUp::locked,
                             deadline);
    if (done) {
      const bool all_new =
          tried == 1 && std::ranges::all_of(distinct.firsts(), [&](std::size_t place) {
            const Result<Enqueued>& answer = done->answers[place];
            return answer && answer->result == EnqueueResult::created;
          });
      doubt_.learn(all_new);
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::size_t first = distinct.first_of(i);
        if (first != i) done->answers[i] = done->again(first, items[i].digest);
      }
      return std::move(done->answers);
    }
    if (worth_repeating(done.error()) && tried < kAttempts && !deadline.passed()) continue;
    Error error = std::move(done.error().error);
    // Ours to retry, not a fault of the request.
    if (error.kind == ErrorKind::conflict) error.kind = ErrorKind::unavailable;
    return std::vector<Result<Enqueued>>(items.size(), std::unexpected(error));
  }
}

}  // namespace penstock::store::postgres
