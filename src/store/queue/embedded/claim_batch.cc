#include "store/queue/embedded/claim_batch.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace penstock::store::embedded {
namespace {

// Items that become DEAD in one claim beside those that it takes: after a change of the type's
// retries it may be all of them, and nobody should wait for that.
constexpr std::size_t kDeadMax = 5'000;

}  // namespace

ClaimBatch::ClaimBatch(Writer& writer, const Engine::View& view, const ClaimRequest& request,
                       Instant now)
    : writer_(writer),
      view_(view),
      request_(request),
      now_(now),
      type_(writer.queue.of(request.type)),
      number_(type_.state.last_claim + 1),
      step_(writer, view),
      due_(view, Family::queue_due, type_.due_from, behind(queue_prefix(request.type))) {
  claim_.batch_id = batch_name(number_);
}

Result<Claim> ClaimBatch::run() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);  // as AssignBatch
  if (request_.token < type_.state.token) {
    return fail(ErrorKind::conflict, "another node dispatches this type by now");
  }
  gather_given_up();
  PENSTOCK_TRY(walk());
  PENSTOCK_TRY(commit());
  return std::move(claim_);
}

void ClaimBatch::gather_given_up() {
  for (const auto& [number, open] : type_.claims) {
    if (open.record.token >= request_.token && open.record.at > now_ - request_.stale) continue;
    for (const ItemId& id : open.record.ids) {
      const auto held = type_.claimed.find(id);
      if (held == type_.claimed.end() || held->second.claim != number) continue;
      given_up_.push_back(&*held);
    }
  }
  std::ranges::sort(given_up_, [](const auto* a, const auto* b) {
    return std::tie(b->second.due, b->first) < std::tie(a->second.due, a->first);
  });
}

Result<void> ClaimBatch::walk() {
  for (;;) {
    std::optional<TimedKey> ready = PENSTOCK_TRY(first_due());
    const bool again = !given_up_.empty() &&
                       (!ready || std::tie(given_up_.back()->second.due, given_up_.back()->first) <
                                      std::tie(ready->at, ready->id));
    if (!again && !ready) return {};
    const Instant due = again ? given_up_.back()->second.due : ready->at;
    if (claim_.items.size() == request_.limit) return {};
    const bool heavy = !claim_.items.empty() && bytes_ >= request_.bytes;
    if (due > now_ + request_.early || heavy || seen_ == request_.limit + kDeadMax) {
      claim_.next_due = due;
      return {};
    }
    ++seen_;
    if (again) {
      const auto& [id, record] = *given_up_.back();
      step_.leave_claim(request_.type, record);
      PENSTOCK_TRY(take({.id = id, .record = record}, /*again=*/true));
      given_up_.pop_back();
      continue;
    }
    ItemRecord record = PENSTOCK_TRY(view_.in_folder(decode_item(due_.value())));
    PENSTOCK_TRY(take({.id = std::move(ready->id), .record = std::move(record)}, /*again=*/false));
    last_due_key_ = due_.key();
    due_.next();
  }
}

Result<std::optional<TimedKey>> ClaimBatch::first_due() {
  const bool more = PENSTOCK_TRY(due_.more());
  if (!more) return std::nullopt;
  return view_.in_folder(decode_timed_key(request_.type, due_.key()));
}

Result<void> ClaimBatch::take(QueueIndex::Held item, bool again) {
  ItemRecord& record = item.record;
  if (record.retry_count >= request_.retries_max) {
    step_.move(request_.type, item.id, record,
               {.to = ItemState::dead,
                .action = AuditAction::dead,
                .at = now_,
                .batch_id = claim_.batch_id,
                .detail = "no retries left"});
    if (again) dead_.push_back(std::move(item.id));
    return {};
  }
  std::string context = PENSTOCK_TRY(read_context(item));
  bytes_ += context.size();
  step_.claim(request_.type, item.id, record, number_, request_.token, now_);
  claim_.items.push_back({.id = item.id,
                          .scheduled = record.scheduled,
                          .retry_count = record.retry_count,
                          .attempts = record.attempts,
                          .context = std::move(context)});
  taken_.push_back(std::move(item));
  return {};
}

// Contexts lie in the order of their time, as the items come: going on from one to the next costs a
// third of looking each up. What is due later than it was scheduled lies before, and is looked up.
Result<std::string> ClaimBatch::read_context(const QueueIndex::Held& item) {
  constexpr int kStepsMax = 4;  // about the price of a look-up
  std::string key;
  timed_key(request_.type, item.record.scheduled, item.id.str(), key);
  const std::string end = behind(queue_prefix(request_.type));
  if (!contexts_) contexts_.emplace(view_, Family::queue_context, key, end);
  std::optional<Cursor> apart;
  if (!contexts_->valid() || contexts_->key() > key) {
    apart.emplace(view_, Family::queue_context, key, end);
  }
  Cursor& rows = apart ? *apart : *contexts_;
  for (int i = 0; i < kStepsMax && rows.valid() && rows.key() < key; ++i) rows.next();
  if (rows.valid() && rows.key() < key) rows.seek(key);
  const bool more = PENSTOCK_TRY(rows.more());
  if (!more || rows.key() != key) {
    return view_.in_folder(
        Result<std::string>(fail(ErrorKind::corrupt, "an item has lost its context")));
  }
  return std::string(rows.value());
}

Result<void> ClaimBatch::commit() {
  const bool idle = seen_ == 0 && request_.token == type_.state.token;
  if (idle) return {};
  QueueIndex::Effect& effect = step_.effect(request_.type);
  effect.state.token = request_.token;
  if (seen_ > 0) effect.state.last_claim = number_;
  // Everything up to there was taken.
  if (!last_due_key_.empty()) effect.due_from = after(last_due_key_);
  ClaimRecord claim{.token = request_.token, .at = now_, .ids = {}};
  claim.ids.reserve(taken_.size());
  for (const QueueIndex::Held& each : taken_) claim.ids.push_back(each.id);
  if (!taken_.empty()) step_.open_claim(request_.type, number_, claim);
  PENSTOCK_TRY(step_.commit());
  writer_.queue.let_go(type_, dead_);
  if (!taken_.empty()) writer_.queue.hold(type_, number_, std::move(claim), std::move(taken_));
  return {};
}

}  // namespace penstock::store::embedded
