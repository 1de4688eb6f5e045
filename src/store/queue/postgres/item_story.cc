#include <charconv>
#include <utility>

#include "store/queue/postgres/queue.h"

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
void tell(ItemView& view, Rows::Row row) {
  const bool has_claim = !row[kClaimed].null();
  if (has_claim) claimed(view, row[kClaimed], batch_name(row[kClaimBatch]));
  const int action = row[kAction];
  if (action == kLost) return;
  const Ending ending = ending_of(action);
  const Instant at = row[kAt];
  std::string batch = row[kStoryBatch];
  if (row[kStoryBatch].null() && has_claim) batch = view.batch_id;
  if (action == kDispatched) view.dispatched = at;
  if (action == kFailed || action == kDead) view.last_error = row[kDetail].as<std::string>();
  view.audit.push_back({.at = at,
                        .action = ending.name,
                        .from = view.state,
                        .to = ending.to,
                        .batch_id = std::move(batch),
                        .detail = row[kDetail]});
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
  const auto first = rows[0];
  const auto last = rows[rows.size() - 1];
  ItemView view{.type = type, .id = id};
  view.scheduled = first[kStoryScheduled];
  view.created = first[kCreated];
  view.due = first[kStoryDue];
  view.audit.push_back({.at = view.created,
                        .action = "ENQUEUED",
                        .from = std::nullopt,
                        .to = ItemState::ready,
                        .batch_id = {},
                        .detail = {}});
  for (const auto row : rows) {
    if (!row[kAction].null()) tell(view, row);
  }
  const bool queued = !first[kQueueBatch].null();
  const std::int64_t batch = first[kQueueBatch];
  if (batch != 0) claimed(view, first[kQueueClaimed], batch_name(batch));
  view.retry_count = queued ? first[kQueueRetries] : last[kStoryRetries];
  view.attempts = queued ? first[kQueueAttempts] : last[kStoryAttempts];
  return view;
}

}  // namespace penstock::store::postgres
