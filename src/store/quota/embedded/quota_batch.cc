#include "store/quota/embedded/quota_batch.h"

#include <rocksdb/perf_level.h>

#include <tuple>
#include <utility>

#include "core/gateway/message.h"
#include "engine/rocksdb/cursor.h"

namespace penstock::store::embedded {
namespace {

// The bytes of a row, or none.
Result<std::optional<std::string>> read_row(const Engine::View& view, Family family,
                                            std::string_view key) {
  std::string value;
  const rocksdb::Status status =
      view.db().Get(rocksdb::ReadOptions(), view.family(family), slice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(view.translate(status, "read the gateway's records"));
  return value;
}

template <class T>
Result<std::optional<T>> in_folder(const Engine::View& view, Result<T>&& decoded) {
  if (!decoded) return std::unexpected(view.in_folder(std::move(decoded.error())));
  return std::move(*decoded);
}

}  // namespace

Result<std::optional<QuotaRecord>> read_quota(const Engine::View& view, UserId user) {
  const auto row = read_row(view, Family::gateway_quota, quota_key(user));
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return in_folder(view, decode_quota(**row));
}

Result<std::optional<KeyRecord>> read_key(const Engine::View& view, std::string_view row) {
  const auto value = read_row(view, Family::gateway_log, row);
  if (!value) return std::unexpected(value.error());
  if (!*value) return std::nullopt;
  return in_folder(view, decode_key(**value));
}

Result<std::optional<KeyClaimRecord>> read_key_claim(const Engine::View& view,
                                                     std::string_view row) {
  const auto value = read_row(view, Family::gateway_log, row);
  if (!value) return std::unexpected(value.error());
  if (!*value) return std::nullopt;
  return in_folder(view, decode_key_claim(**value));
}

Result<UsageCounts> read_usage(const Engine::View& view, UserId user, Instant minute) {
  const auto row = read_row(view, Family::gateway_log, usage_key(user, minute));
  if (!row) return std::unexpected(row.error());
  if (!*row) return UsageCounts{};
  const Result<UsageCounts> counts = decode_usage(**row);
  if (!counts) return std::unexpected(view.in_folder(counts.error()));
  return counts;
}

void QuotaWrites::put(Family family, std::string_view key, std::string_view value) {
  const rocksdb::Status done = batch_.Put(view_.family(family), slice(key), slice(value));
  if (status_.ok()) status_ = done;
}

void QuotaWrites::remove(Family family, std::string_view key) {
  const rocksdb::Status done = batch_.Delete(view_.family(family), slice(key));
  if (status_.ok()) status_ = done;
}

void QuotaWrites::put_quota(UserId user, const QuotaRecord& record) {
  encode_quota(record, value_);
  put(Family::gateway_quota, quota_key(user), value_);
}

void QuotaWrites::put_usage(UserId user, Instant minute, const UsageCounts& counts) {
  put(Family::gateway_log, usage_key(user, minute), encode_usage(counts));
  put(Family::gateway_log, usage_time_key(minute, user), encode_limited(counts.limited));
}

Result<void> QuotaWrites::status() const {
  if (!status_.ok()) return std::unexpected(view_.translate(status_, "write"));
  return {};
}

Result<QuotaPages::Page*> QuotaPages::of(UserId user) {
  const auto [found, added] = pages_.try_emplace(user);
  if (added) {
    Result<std::optional<QuotaRecord>> record = read_quota(view_, user);
    if (!record) return std::unexpected(std::move(record.error()));
    found->second.record = *record;
  }
  return &found->second;
}

bool QuotaPages::write(QuotaWrites& writes) const {
  bool any = false;
  for (const auto& [user, page] : pages_) {
    if (!page.changed) continue;
    writes.put_quota(user, *page.record);
    any = true;
  }
  return any;
}

std::vector<Result<Sent>> QuotaBatch::run() {
  if (sends_.empty()) return {};
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);  // as AssignBatch
  const auto all_fail = [&](const Error& error) {
    return std::vector<Result<Sent>>(sends_.size(), std::unexpected(error));
  };
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return all_fail(view.error());
  std::vector<Result<Sent>> answers;
  answers.reserve(sends_.size());
  items_.reserve(sends_.size());
  for (const Send& send : sends_) {
    Result<Sent> answer = decide(*view, send);
    if (!answer) return all_fail(answer.error());
    answers.push_back(std::move(answer));
  }
  if (items_.empty()) {
    write_clamped(*view);
    return answers;
  }
  const auto rider = [&](std::span<const Result<Enqueued>> items, rocksdb::WriteBatch& batch) {
    return ride(*view, items, batch);
  };
  for (const Result<Enqueued>& item : enqueue_.run(items_, now_, rider)) {
    if (!item) return all_fail(item.error());
  }
  return answers;
}

// Windows that began in the future, of users who are limited. A store that cannot write answers all
// the same; the next call then tries again.
void QuotaBatch::write_clamped(const Engine::View& view) const {
  rocksdb::WriteBatch batch;
  QuotaWrites writes(view, batch);
  for (const auto& [user, state] : users_) {
    if (state.changed) writes.put_quota(user, *state.record);
  }
  if (batch.Count() > 0 && writes.status()) std::ignore = writer_.engine.commit(batch);
}

Result<QuotaBatch::User*> QuotaBatch::user_of(const Engine::View& view, UserId user) {
  const auto [found, added] = users_.try_emplace(user);
  if (added) {
    Result<std::optional<QuotaRecord>> record = read_quota(view, user);
    if (!record) return std::unexpected(std::move(record.error()));
    found->second.record = *record;
  }
  return &found->second;
}

Result<std::optional<KeyRecord>*> QuotaBatch::key_of(const Engine::View& view, const Send& send) {
  const auto [found, added] = keys_.try_emplace(send_key(send.user, send.key));
  if (added) {
    Result<std::optional<KeyRecord>> record = read_key(view, found->first);
    if (!record) return std::unexpected(std::move(record.error()));
    found->second = std::move(*record);
    if (found->second && found->second->at + key_term_ <= now_) found->second.reset();
  }
  return &found->second;
}

Result<Sent> QuotaBatch::decide(const Engine::View& view, const Send& send) {
  const Result<User*> user = user_of(view, send.user);
  if (!user) return std::unexpected(user.error());
  if (!(*user)->record) return Sent{.result = SendResult::unknown_user};
  if (!send.key.empty()) {
    const Result<std::optional<KeyRecord>*> known = key_of(view, send);
    if (!known) return std::unexpected(known.error());
    if (const std::optional<KeyRecord>& key = **known) {
      if (key->digest != send.digest) return Sent{.result = SendResult::different};
      return Sent{.result = SendResult::repeated, .id = key->id};
    }
  }
  const core::QuotaStep step = core::charge_quota((*user)->record->quota, send.cost, now_);
  switch (step.verdict) {
    case core::QuotaVerdict::limited:
      if (step.next != (*user)->record->quota) {
        (*user)->record->quota = step.next;
        (*user)->changed = true;
      }
      return Sent{.result = SendResult::limited, .retry_after = step.retry_after};
    case core::QuotaVerdict::never:
      return Sent{.result = SendResult::never};
    case core::QuotaVerdict::admitted:
      break;
  }
  if (Result<void> taken = take(view, send, **user, step.next); !taken) {
    return std::unexpected(std::move(taken.error()));
  }
  return Sent{.result = SendResult::sent, .id = send.id};
}

Result<void> QuotaBatch::take(const Engine::View& view, const Send& send, User& user,
                              const Quota& next) {
  QuotaRecord& record = *user.record;
  if (record.minute != minute_) {
    if (record.sent > 0) {
      Result<UsageCounts> counts = read_usage(view, send.user, record.minute);
      if (!counts) return std::unexpected(std::move(counts.error()));
      counts->sent += record.sent;
      user.moved = {.minute = record.minute, .counts = *counts};
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

Result<void> QuotaBatch::ride(const Engine::View& view, std::span<const Result<Enqueued>> items,
                              rocksdb::WriteBatch& batch) const {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i]) return std::unexpected(items[i].error());
    if (items[i]->result == EnqueueResult::created) continue;
    return fail(ErrorKind::conflict, "there is a message " + items_[i].id.str() + " already");
  }
  QuotaWrites writes(view, batch);
  for (const auto& [user, state] : users_) {
    if (!state.changed) continue;
    writes.put_quota(user, *state.record);
    if (state.moved) writes.put_usage(user, state.moved->minute, state.moved->counts);
  }
  for (const Send* send : keyed_) {
    writes.put(Family::gateway_log, send_key(send->user, send->key),
               encode_key({.at = now_, .digest = send->digest, .id = send->id}));
    writes.put(Family::gateway_log, key_time_key(now_, send->user, send->key), encode_quota_mark());
  }
  return writes.status();
}

}  // namespace penstock::store::embedded
