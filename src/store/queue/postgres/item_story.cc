#include "store/queue/postgres/item_story.h"

#include <charconv>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {

// The columns of find_item.sql.
enum StoryColumn : int {
  kStoryScheduled,
  kCreated,
  kQueueBatch,
  kQueueClaimed,
  kQueueRetries,
  kQueueAttempts,
  kAction,
  kAt,
  kClaimed,
  kClaimBatch,
  kStoryBatch,
  kDetail,
  kStoryRetries,
  kStoryAttempts,
  kStoryDue,
};

// dispatch_audit.action
enum Action : int {
  kLost = 1,
  kDispatched = 2,
  kFailed = 3,
  kReturned = 4,
  kDead = 5,
  kCancelled = 6,
  kRedriven = 7,
  kSpent = 8,
};

struct Ending {
  const char* name;
  ItemState to;
};

Ending ending_of(int action) {
  switch (action) {
    case kDispatched:
      return {"DISPATCHED", ItemState::dispatched};
    case kFailed:
      return {"DISPATCH_FAILED", ItemState::ready};
    case kReturned:
      return {"RETURNED", ItemState::ready};
    case kCancelled:
      return {"CANCELLED", ItemState::cancelled};
    case kRedriven:
      return {"REDRIVEN", ItemState::ready};
    default:
      return {"DEAD", ItemState::dead};
  }
}

void claimed(ItemView& view, Instant at, std::string batch) {
  view.claimed = at;
  view.batch_id = std::move(batch);
  view.audit.push_back({.at = at,
                        .action = "CLAIMED",
                        .from = view.state,
                        .to = ItemState::claimed,
                        .batch_id = view.batch_id,
                        .detail = {}});
  view.state = ItemState::claimed;
}

// One row of the audit: maybe a claim, and maybe how it ended.
void tell(ItemView& view, const Rows& rows, int row) {
  const bool has_claim = !rows.null(row, kClaimed);
  if (has_claim) {
    claimed(view, from_epoch_us(rows.int8(row, kClaimed)), batch_name(rows.int8(row, kClaimBatch)));
  }
  const int action = rows.int2(row, kAction);
  if (action == kLost) return;
  const Ending ending = ending_of(action);
  const Instant at = from_epoch_us(rows.int8(row, kAt));
  std::string batch(rows.text(row, kStoryBatch));
  if (rows.null(row, kStoryBatch) && has_claim) batch = view.batch_id;
  if (action == kDispatched) view.dispatched = at;
  if (action == kFailed || action == kDead) view.last_error = rows.text(row, kDetail);
  view.audit.push_back({.at = at,
                        .action = ending.name,
                        .from = view.state,
                        .to = ending.to,
                        .batch_id = std::move(batch),
                        .detail = std::string(rows.text(row, kDetail))});
  view.state = ending.to;
}

}  // namespace

std::string batch_name(std::int64_t batch) { return "b" + std::to_string(batch); }

std::int64_t batch_of(std::string_view name) {
  if (!name.starts_with('b')) return 0;
  std::int64_t batch = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, problem] = std::from_chars(name.data() + 1, end, batch);
  return problem == std::errc{} && stopped == end && batch > 0 ? batch : 0;
}

ItemView item_story(const ItemType& type, const ItemId& id, const Rows& rows) {
  ItemView view{.type = type, .id = id};
  view.scheduled = from_epoch_us(rows.int8(0, kStoryScheduled));
  view.created = from_epoch_us(rows.int8(0, kCreated));
  view.due = from_epoch_us(rows.int8(0, kStoryDue));
  view.audit.push_back({.at = view.created,
                        .action = "ENQUEUED",
                        .from = std::nullopt,
                        .to = ItemState::ready,
                        .batch_id = {},
                        .detail = {}});
  const int last = rows.size() - 1;
  for (int row = 0; row <= last; ++row) {
    if (!rows.null(row, kAction)) tell(view, rows, row);
  }
  const bool queued = !rows.null(0, kQueueBatch);
  if (queued && rows.int8(0, kQueueBatch) != 0) {
    claimed(view, from_epoch_us(rows.int8(0, kQueueClaimed)),
            batch_name(rows.int8(0, kQueueBatch)));
  }
  view.retry_count = queued ? rows.int4(0, kQueueRetries) : rows.int4(last, kStoryRetries);
  view.attempts = queued ? rows.int4(0, kQueueAttempts) : rows.int4(last, kStoryAttempts);
  return view;
}

}  // namespace penstock::store::postgres
