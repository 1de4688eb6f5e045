#include "store/quota/embedded/embedded_quotas.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/rocksdb/cursor.h"

namespace penstock::store::embedded {
namespace {

// What the quota still holds of a minute goes to its row.
Result<void> move_out(const Engine::View& view, QuotaWrites& writes, UserId user,
                      const QuotaRecord& record) {
  if (record.sent == 0) return {};
  Result<UsageCounts> counts = read_usage(view, user, record.minute);
  if (!counts) return std::unexpected(std::move(counts.error()));
  counts->sent += record.sent;
  writes.put_usage(user, record.minute, *counts);
  return {};
}

Result<std::vector<UsagePoint>> moved_usage(const Engine::View& view, UserId user, Instant from,
                                            Instant to, std::size_t limit) {
  std::vector<UsagePoint> points;
  Cursor rows(view, Family::gateway_log, usage_key(user, from), usage_key(user, to));
  for (; rows.valid() && points.size() < limit; rows.next()) {
    const Result<UsagePlace> place = decode_usage_key(rows.key());
    if (!place) return std::unexpected(view.in_folder(place.error()));
    const Result<UsageCounts> counts = decode_usage(rows.value());
    if (!counts) return std::unexpected(view.in_folder(counts.error()));
    points.push_back({.minute = place->minute, .counts = *counts});
  }
  if (Result<void> read = rows.status(); !read) return std::unexpected(std::move(read.error()));
  return points;
}

void add_running(std::vector<UsagePoint>& points, const QuotaRecord& record) {
  const auto place = std::ranges::lower_bound(points, record.minute, {}, &UsagePoint::minute);
  if (place != points.end() && place->minute == record.minute) {
    place->counts.sent += record.sent;
  } else {
    points.insert(place, {.minute = record.minute, .counts = {.sent = record.sent}});
  }
}

Charged charge_page(QuotaPages::Page& page, std::int64_t cost, Instant now) {
  if (!page.record) return {.result = ChargeResult::unknown_user};
  const core::QuotaStep step = core::charge_quota(page.record->quota, cost, now);
  switch (step.verdict) {
    case core::QuotaVerdict::limited:
      page.changed |= step.next != page.record->quota;
      page.record->quota = step.next;
      return {.result = ChargeResult::limited, .retry_after = step.retry_after};
    case core::QuotaVerdict::never:
      return {.result = ChargeResult::never};
    case core::QuotaVerdict::admitted:
      break;
  }
  page.record->quota = step.next;
  page.changed = true;
  return {.window = step.next.refreshed.time_since_epoch().count()};
}

}  // namespace

Result<Quota> EmbeddedQuotas::put(UserId user, const QuotaRule& rule, std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Result<std::optional<QuotaRecord>> known = read_quota(*view, user);
  if (!known) return std::unexpected(known.error());
  QuotaRecord record = known->value_or(QuotaRecord{});
  record.quota = core::begin_quota(rule, at(now));
  rocksdb::WriteBatch batch;
  QuotaWrites writes(*view, batch);
  writes.put_quota(user, record);
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return record.quota;
}

Result<std::optional<Quota>> EmbeddedQuotas::find(UserId user) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Result<std::optional<QuotaRecord>> record = read_quota(*view, user);
  if (!record) return std::unexpected(record.error());
  if (!*record) return std::nullopt;
  return (*record)->quota;
}

Result<bool> EmbeddedQuotas::remove(UserId user) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Result<std::optional<QuotaRecord>> record = read_quota(*view, user);
  if (!record) return std::unexpected(record.error());
  if (!*record) return false;
  rocksdb::WriteBatch batch;
  QuotaWrites writes(*view, batch);
  if (Result<void> moved = move_out(*view, writes, user, **record); !moved) {
    return std::unexpected(std::move(moved.error()));
  }
  writes.remove(Family::gateway_quota, quota_key(user));
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return true;
}

std::vector<Result<Sent>> EmbeddedQuotas::send(std::span<const Send> sends,
                                               std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  // A store that cannot write still knows who is limited; the commit refuses the rest.
  std::ignore = writer_.ready();
  return QuotaBatch(writer_, enqueue_, sends, now).run();
}

std::vector<Result<Charged>> EmbeddedQuotas::charge(std::span<const Charge> charges,
                                                    std::optional<Instant> now) {
  const auto all_fail = [&](const Error& error) {
    return std::vector<Result<Charged>>(charges.size(), std::unexpected(error));
  };
  const std::lock_guard lock(writer_.mutex);
  std::ignore = writer_.ready();  // as send()
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return all_fail(view.error());
  const Instant moment = at(now);
  QuotaPages pages(*view);
  std::vector<Result<Charged>> answers;
  answers.reserve(charges.size());
  for (const Charge& charge : charges) {
    const Result<QuotaPages::Page*> page = pages.of(charge.user);
    if (!page) return all_fail(page.error());
    answers.push_back(charge_page(**page, charge.cost, moment));
  }
  if (Result<void> written = commit(*view, pages); !written) return all_fail(written.error());
  return answers;
}

Result<void> EmbeddedQuotas::give_back(std::span<const GiveBack> charges) {
  if (charges.empty()) return {};
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  QuotaPages pages(*view);
  for (const GiveBack& charge : charges) {
    const Result<QuotaPages::Page*> page = pages.of(charge.user);
    if (!page) return std::unexpected(page.error());
    if (!(*page)->record) continue;
    Quota& quota = (*page)->record->quota;
    const Quota next = core::give_back_quota(quota, charge.cost, Instant{Micros{charge.window}});
    (*page)->changed |= next != quota;
    quota = next;
  }
  return commit(*view, pages);
}

Result<void> EmbeddedQuotas::commit(const Engine::View& view, const QuotaPages& pages) {
  rocksdb::WriteBatch batch;
  QuotaWrites writes(view, batch);
  if (!pages.write(writes)) return {};
  if (Result<void> status = writes.status(); !status) return status;
  return writer_.engine.commit(batch);
}

Result<void> EmbeddedQuotas::record(std::span<const UsageDelta> deltas) {
  if (deltas.empty()) return {};
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::map<std::pair<UserId, Instant>, UsageCounts> minutes;
  for (const UsageDelta& delta : deltas) {
    const Instant minute = minute_of(delta.minute);
    const auto [found, added] = minutes.try_emplace({delta.user, minute});
    if (added) {
      const Result<UsageCounts> counts = read_usage(*view, delta.user, minute);
      if (!counts) return std::unexpected(counts.error());
      found->second = *counts;
    }
    found->second += delta.counts;
  }
  rocksdb::WriteBatch batch;
  QuotaWrites writes(*view, batch);
  for (const auto& [place, counts] : minutes) writes.put_usage(place.first, place.second, counts);
  if (Result<void> status = writes.status(); !status) return status;
  return writer_.engine.commit(batch);
}

// A message may move the running minute while the rows are read: then they are read again.
Result<std::vector<UsagePoint>> EmbeddedQuotas::usage(UserId user, Instant from, Instant to,
                                                      std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const auto stamp = [](const std::optional<QuotaRecord>& record) {
    return record && record->sent > 0 ? std::optional(record->minute) : std::nullopt;
  };
  Result<std::optional<QuotaRecord>> before = read_quota(*view, user);
  for (;;) {
    if (!before) return std::unexpected(std::move(before.error()));
    Result<std::vector<UsagePoint>> points = moved_usage(*view, user, minute_of(from), to, limit);
    if (!points) return points;
    Result<std::optional<QuotaRecord>> after = read_quota(*view, user);
    if (!after) return std::unexpected(std::move(after.error()));
    if (stamp(*before) != stamp(*after)) {
      before = std::move(after);
      continue;
    }
    if (const auto running = stamp(*after);
        running && *running >= minute_of(from) && *running < to) {
      add_running(*points, **after);
      if (points->size() > limit) points->pop_back();
    }
    return points;
  }
}

Result<std::vector<LimitedUser>> EmbeddedQuotas::top_limited(Instant from, Instant to,
                                                             std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::map<UserId, std::int64_t> limited;
  Cursor rows(*view, Family::gateway_log, usage_time_key(minute_of(from)), usage_time_key(to));
  for (; rows.valid(); rows.next()) {
    const Result<UsagePlace> place = decode_usage_time_key(rows.key());
    if (!place) return std::unexpected(view->in_folder(place.error()));
    const Result<std::int64_t> count = decode_limited(rows.value());
    if (!count) return std::unexpected(view->in_folder(count.error()));
    if (*count > 0) limited[place->user] += *count;
  }
  if (Result<void> read = rows.status(); !read) return std::unexpected(std::move(read.error()));
  std::vector<LimitedUser> users;
  users.reserve(limited.size());
  for (const auto& [user, count] : limited) users.push_back({.user = user, .limited = count});
  const std::size_t kept = std::min(limit, users.size());
  std::ranges::partial_sort(
      users, users.begin() + static_cast<std::ptrdiff_t>(kept), {},
      [](const LimitedUser& user) { return std::pair(-user.limited, user.user); });
  users.resize(kept);
  return users;
}

Result<QuotaSweep> EmbeddedQuotas::forget(Instant keys_before, Instant usage_before,
                                          std::size_t limit) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  QuotaWrites writes(*view, batch);
  std::size_t keys = 0;
  Cursor times(*view, Family::gateway_log, std::string(1, kKeyTimeTag),
               key_time_key(keys_before, UserId{}, {}));
  for (; times.valid() && keys < limit; times.next(), ++keys) {
    const Result<KeyPlace> place = decode_key_time_key(times.key());
    if (!place) return std::unexpected(view->in_folder(place.error()));
    const std::string row = send_key(place->user, place->key);
    const Result<std::optional<KeyRecord>> key = read_key(*view, row);
    if (!key) return std::unexpected(key.error());
    // It may have been taken again since.
    if (*key && (*key)->at == place->at) writes.remove(Family::gateway_log, row);
    writes.remove(Family::gateway_log, times.key());
  }
  if (Result<void> read = times.status(); !read) return std::unexpected(std::move(read.error()));
  // Claims are few: of requests under way, and of those that a crash has cut off.
  std::size_t claims = 0;
  std::size_t seen = 0;
  Cursor held(*view, Family::gateway_log, std::string(1, kKeyClaimTag),
              behind(std::string(1, kKeyClaimTag)));
  for (; held.valid() && seen < limit; held.next(), ++seen) {
    const Result<KeyClaimRecord> claim = decode_key_claim(held.value());
    if (!claim) return std::unexpected(view->in_folder(claim.error()));
    if (claim->at >= keys_before) continue;
    writes.remove(Family::gateway_log, held.key());
    ++claims;
  }
  if (Result<void> read = held.status(); !read) return std::unexpected(std::move(read.error()));
  std::size_t minutes = 0;
  Cursor rows(*view, Family::gateway_log, std::string(1, kUsageTimeTag),
              usage_time_key(usage_before));
  for (; rows.valid() && minutes < limit; rows.next(), ++minutes) {
    const Result<UsagePlace> place = decode_usage_time_key(rows.key());
    if (!place) return std::unexpected(view->in_folder(place.error()));
    writes.remove(Family::gateway_log, usage_key(place->user, place->minute));
    writes.remove(Family::gateway_log, rows.key());
  }
  if (Result<void> read = rows.status(); !read) return std::unexpected(std::move(read.error()));
  if (keys + claims + minutes == 0) return QuotaSweep{};
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return QuotaSweep{.gone = keys + claims + minutes,
                    .more = keys == limit || claims == limit || minutes == limit};
}

}  // namespace penstock::store::embedded
