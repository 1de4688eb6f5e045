#include "store/quota/embedded/quota_batch.h"

#include <rocksdb/perf_level.h>

#include <tuple>
#include <utility>

#include "core/gateway/message.h"
#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

constexpr std::string_view kReading = "read the gateway's records";

}  // namespace

Result<std::optional<QuotaRecord>> read_quota(const Engine::View& view, UserId user) {
  return view.find(Family::gateway_quota, quota_key(user), kReading, decode_quota);
}

Result<std::optional<KeyRecord>> read_key(const Engine::View& view, std::string_view row) {
  return view.find(Family::gateway_log, row, kReading, decode_key);
}

Result<std::optional<KeyClaimRecord>> read_key_claim(const Engine::View& view,
                                                     std::string_view row) {
  return view.find(Family::gateway_log, row, kReading, decode_key_claim);
}

Result<UsageCounts> read_usage(const Engine::View& view, UserId user, Instant minute) {
  const std::optional<UsageCounts> counts =
      PENSTOCK_TRY(view.find(Family::gateway_log, usage_key(user, minute), kReading, decode_usage));
  return counts.value_or(UsageCounts{});
}

void put_quota(Changes& changes, UserId user, const QuotaRecord& record) {
  changes.put(Family::gateway_quota, quota_key(user), encode_quota(record));
}

void put_usage(Changes& changes, UserId user, Instant minute, const UsageCounts& counts) {
  changes.put(Family::gateway_log, usage_key(user, minute), encode_usage(counts));
  changes.put(Family::gateway_log, usage_time_key(minute, user), encode_limited(counts.limited));
}

void put_key(Changes& changes, UserId user, std::string_view key, const KeyRecord& record) {
  changes.put(Family::gateway_log, send_key(user, key), encode_key(record));
  changes.put(Family::gateway_log, key_time_key(record.at, user, key), encode_mark());
}

Result<QuotaPages::Page*> QuotaPages::of(UserId user) {
  const auto [found, added] = pages_.try_emplace(user);
  if (added) found->second.record = PENSTOCK_TRY(read_quota(view_, user));
  return &found->second;
}

void QuotaPages::put(Changes& changes) const {
  for (const auto& [user, page] : pages_) {
    if (!page.changed) continue;
    put_quota(changes, user, *page.record);
    if (page.moved) put_usage(changes, user, page.moved->minute, page.moved->counts);
  }
}

Result<void> QuotaPages::commit(Engine& engine) const {
  Changes changes(view_);
  put(changes);
  return changes.commit(engine);
}

std::vector<Result<Sent>> QuotaBatch::run() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);  // as AssignBatch
  const auto all_fail = [&](const Error& error) {
    return std::vector<Result<Sent>>(sends_.size(), std::unexpected(error));
  };
  std::vector<Result<Sent>> answers;
  answers.reserve(sends_.size());
  items_.reserve(sends_.size());
  for (const Send& send : sends_) {
    Result<Sent> answer = decide(send);
    if (!answer) return all_fail(answer.error());
    answers.push_back(std::move(answer));
  }
  if (items_.empty()) {
    // Windows that began in the future, of users who are limited. A store that cannot write answers
    // all the same; the next call then tries again.
    std::ignore = pages_.commit(writer_.engine);
    return answers;
  }
  const auto rider = [&](std::span<const Result<Enqueued>> items, Changes& changes) {
    return ride(items, changes);
  };
  for (const Result<Enqueued>& item : enqueue_.run(items_, now_, rider)) {
    if (!item) return all_fail(item.error());
  }
  return answers;
}

Result<std::optional<KeyRecord>*> QuotaBatch::key_of(const Send& send) {
  const auto [found, added] = keys_.try_emplace(send_key(send.user, send.key));
  if (added) {
    found->second = PENSTOCK_TRY(read_key(view_, found->first));
    if (found->second && found->second->at + key_term_ <= now_) found->second.reset();
  }
  return &found->second;
}

Result<Sent> QuotaBatch::decide(const Send& send) {
  QuotaPages::Page* const user = PENSTOCK_TRY(pages_.of(send.user));
  if (!user->record) return Sent{.result = SendResult::unknown_user};
  if (!send.key.empty()) {
    std::optional<KeyRecord>* const known = PENSTOCK_TRY(key_of(send));
    if (const std::optional<KeyRecord>& key = *known) {
      if (key->digest != send.digest) return Sent{.result = SendResult::different};
      return Sent{.result = SendResult::repeated, .id = key->id};
    }
  }
  const core::QuotaStep step = core::charge_quota(user->record->quota, send.cost, now_);
  switch (step.verdict) {
    case core::QuotaVerdict::limited:
      if (step.next != user->record->quota) {
        user->record->quota = step.next;
        user->changed = true;
      }
      return Sent{.result = SendResult::limited, .retry_after = step.retry_after};
    case core::QuotaVerdict::never:
      return Sent{.result = SendResult::never};
    case core::QuotaVerdict::admitted:
      break;
  }
  PENSTOCK_TRY(take(send, *user, step.next));
  return Sent{.result = SendResult::sent, .id = send.id};
}

Result<void> QuotaBatch::take(const Send& send, QuotaPages::Page& user, const Quota& next) {
  QuotaRecord& record = *user.record;
  if (record.minute != minute_) {
    if (record.sent > 0) {
      UsageCounts counts = PENSTOCK_TRY(read_usage(view_, send.user, record.minute));
      counts.sent += record.sent;
      user.moved = {.minute = record.minute, .counts = counts};
    }
    record.minute = minute_;
    record.sent = 0;
  }
  record.quota = next;
  ++record.sent;
  user.changed = true;
  if (!send.key.empty()) {
    keys_[send_key(send.user, send.key)] =
        KeyRecord{.at = now_, .digest = send.digest, .id = send.id};
    keyed_.push_back(&send);
  }
  items_.push_back({.type = message_item_type(),
                    .id = send.id,
                    .due = cut_to_millis(now_),
                    .slot = std::nullopt,
                    .context = send.context,
                    .digest = send.digest});
  return {};
}

Result<void> QuotaBatch::ride(std::span<const Result<Enqueued>> items, Changes& changes) const {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i]) return std::unexpected(items[i].error());
    if (items[i]->result == EnqueueResult::created) continue;
    return fail(ErrorKind::conflict, "there is a message " + items_[i].id.str() + " already");
  }
  pages_.put(changes);
  for (const Send* send : keyed_) {
    put_key(changes, send->user, send->key, {.at = now_, .digest = send->digest, .id = send->id});
  }
  return {};
}

}  // namespace penstock::store::embedded
