#include "store/quota/embedded/quota.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/rocksdb/records.h"

namespace penstock::store::embedded {
namespace {

// What the quota still holds of a minute goes to its row.
Result<void> move_out(const Engine::View& view, Changes& changes, UserId user,
                      const QuotaRecord& record) {
  if (record.sent == 0) return {};
  UsageCounts counts = PENSTOCK_TRY(read_usage(view, user, record.minute));
  counts.sent += record.sent;
  put_usage(changes, user, record.minute, counts);
  return {};
}

Result<std::vector<UsagePoint>> moved_usage(const Engine::View& view, UserId user, Instant from,
                                            Instant to, std::size_t limit) {
  std::vector<UsagePoint> points;
  Cursor rows(view, Family::gateway_log, usage_key(user, from), usage_key(user, to));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    if (points.size() == limit) break;
    const UsagePlace place = PENSTOCK_TRY(view.in_folder(decode_usage_key(rows.key())));
    const UsageCounts counts = PENSTOCK_TRY(view.in_folder(decode_usage(rows.value())));
    points.push_back({.minute = place.minute, .counts = counts});
  }
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
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const std::optional<QuotaRecord> known = PENSTOCK_TRY(read_quota(view, user));
  QuotaRecord record = known.value_or(QuotaRecord{});
  record.quota = core::begin_quota(rule, writer_.at(now));
  Changes changes(view);
  put_quota(changes, user, record);
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return record.quota;
}

Result<std::optional<Quota>> EmbeddedQuotas::find(UserId user) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  const std::optional<QuotaRecord> record = PENSTOCK_TRY(read_quota(view, user));
  if (!record) return std::nullopt;
  return record->quota;
}

Result<bool> EmbeddedQuotas::remove(UserId user) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const std::optional<QuotaRecord> record = PENSTOCK_TRY(read_quota(view, user));
  if (!record) return false;
  Changes changes(view);
  PENSTOCK_TRY(move_out(view, changes, user, *record));
  changes.remove(Family::gateway_quota, quota_key(user));
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return true;
}

std::vector<Result<Sent>> EmbeddedQuotas::send(std::span<const Send> sends,
                                               std::optional<Instant> now) {
  if (sends.empty()) return {};
  const std::lock_guard lock(writer_.mutex);
  // A store that cannot write still knows who is limited; the commit refuses the rest.
  std::ignore = writer_.ready();
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::vector<Result<Sent>>(sends.size(), std::unexpected(view.error()));
  return QuotaBatch(writer_, enqueue_, *view, sends, now).run();
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
  const Instant moment = writer_.at(now);
  QuotaPages pages(*view);
  std::vector<Result<Charged>> answers;
  answers.reserve(charges.size());
  for (const Charge& charge : charges) {
    const Result<QuotaPages::Page*> page = pages.of(charge.user);
    if (!page) return all_fail(page.error());
    answers.push_back(charge_page(**page, charge.cost, moment));
  }
  if (Result<void> written = pages.commit(writer_.engine); !written) {
    return all_fail(written.error());
  }
  return answers;
}

Result<void> EmbeddedQuotas::give_back(std::span<const GiveBack> charges) {
  if (charges.empty()) return {};
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  QuotaPages pages(view);
  for (const GiveBack& charge : charges) {
    QuotaPages::Page* const page = PENSTOCK_TRY(pages.of(charge.user));
    if (!page->record) continue;
    Quota& quota = page->record->quota;
    const Quota next = core::give_back_quota(quota, charge.cost, Instant{Micros{charge.window}});
    page->changed |= next != quota;
    quota = next;
  }
  return pages.commit(writer_.engine);
}

Result<void> EmbeddedQuotas::record(std::span<const UsageDelta> deltas) {
  if (deltas.empty()) return {};
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  std::map<std::pair<UserId, Instant>, UsageCounts> minutes;
  for (const UsageDelta& delta : deltas) {
    const Instant minute = minute_of(delta.minute);
    const auto [found, added] = minutes.try_emplace({delta.user, minute});
    if (added) found->second = PENSTOCK_TRY(read_usage(view, delta.user, minute));
    found->second += delta.counts;
  }
  Changes changes(view);
  for (const auto& [place, counts] : minutes) put_usage(changes, place.first, place.second, counts);
  return changes.commit(writer_.engine);
}

// A message may move the running minute while the rows are read: then they are read again.
Result<std::vector<UsagePoint>> EmbeddedQuotas::usage(UserId user, Instant from, Instant to,
                                                      std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  const auto stamp = [](const std::optional<QuotaRecord>& record) {
    return record && record->sent > 0 ? std::optional(record->minute) : std::nullopt;
  };
  std::optional<QuotaRecord> before = PENSTOCK_TRY(read_quota(view, user));
  for (;;) {
    std::vector<UsagePoint> points =
        PENSTOCK_TRY(moved_usage(view, user, minute_of(from), to, limit));
    std::optional<QuotaRecord> after = PENSTOCK_TRY(read_quota(view, user));
    if (stamp(before) != stamp(after)) {
      before = std::move(after);
      continue;
    }
    if (const auto running = stamp(after);
        running && *running >= minute_of(from) && *running < to) {
      add_running(points, *after);
      if (points.size() > limit) points.pop_back();
    }
    return points;
  }
}

Result<std::vector<LimitedUser>> EmbeddedQuotas::top_limited(Instant from, Instant to,
                                                             std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::map<UserId, std::int64_t> limited;
  Cursor rows(view, Family::gateway_log, usage_time_key(minute_of(from)), usage_time_key(to));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    const UsagePlace place = PENSTOCK_TRY(view.in_folder(decode_usage_time_key(rows.key())));
    const std::int64_t count = PENSTOCK_TRY(view.in_folder(decode_limited(rows.value())));
    if (count > 0) limited[place.user] += count;
  }
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
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  std::size_t keys = 0;
  Cursor times(view, Family::gateway_log, std::string(1, kKeyTimeTag),
               key_time_key(keys_before, UserId{}, {}));
  for (; PENSTOCK_TRY(times.more()); times.next(), ++keys) {
    if (keys == limit) break;
    const KeyPlace place = PENSTOCK_TRY(view.in_folder(decode_key_time_key(times.key())));
    const std::string row = send_key(place.user, place.key);
    const std::optional<KeyRecord> key = PENSTOCK_TRY(read_key(view, row));
    // It may have been taken again since.
    if (key && key->at == place.at) changes.remove(Family::gateway_log, row);
    changes.remove(Family::gateway_log, times.key());
  }
  // Claims are few: of requests under way, and of those that a crash has cut off.
  std::size_t claims = 0;
  std::size_t seen = 0;
  Cursor held(view, Family::gateway_log, std::string(1, kKeyClaimTag),
              behind(std::string(1, kKeyClaimTag)));
  for (; PENSTOCK_TRY(held.more()); held.next(), ++seen) {
    if (seen == limit) break;
    const KeyClaimRecord claim = PENSTOCK_TRY(view.in_folder(decode_key_claim(held.value())));
    if (claim.at >= keys_before) continue;
    changes.remove(Family::gateway_log, held.key());
    ++claims;
  }
  std::size_t minutes = 0;
  Cursor rows(view, Family::gateway_log, std::string(1, kUsageTimeTag),
              usage_time_key(usage_before));
  for (; PENSTOCK_TRY(rows.more()); rows.next(), ++minutes) {
    if (minutes == limit) break;
    const UsagePlace place = PENSTOCK_TRY(view.in_folder(decode_usage_time_key(rows.key())));
    changes.remove(Family::gateway_log, usage_key(place.user, place.minute));
    changes.remove(Family::gateway_log, rows.key());
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return QuotaSweep{.gone = keys + claims + minutes,
                    .more = keys == limit || claims == limit || minutes == limit};
}

}  // namespace penstock::store::embedded
