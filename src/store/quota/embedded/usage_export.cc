#include "store/quota/embedded/quota.h"

#include <rocksdb/snapshot.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/rocksdb/records.h"
#include "store/quota/embedded/quota_encoding.h"

namespace penstock::store::embedded {
namespace {

using Minutes = std::map<UsageMark, UsageCounts>;

// Rows of [from, to) behind `after`, at most `limit`.
Result<void> read_rows(const Engine::View& view, const rocksdb::ReadOptions& moment, Instant from,
                       Instant to, const std::optional<UsageMark>& after, std::size_t limit,
                       Minutes& minutes) {
  const Instant begin = after ? std::max(from, after->minute) : from;
  Cursor rows(view, Family::gateway_log, usage_time_key(begin), usage_time_key(to), moment);
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    const UsagePlace place = PENSTOCK_TRY(view.in_folder(decode_usage_time_key(rows.key())));
    const UsageMark mark{.minute = place.minute, .user = place.user};
    if (after && mark <= *after) continue;
    if (minutes.size() == limit) return {};
    const std::optional<UsageCounts> counts =
        PENSTOCK_TRY(view.find(Family::gateway_log, usage_key(place.user, place.minute),
                               "read the usage of a user", decode_usage, moment));
    if (!counts) {
      return view.in_folder(Result<void>(fail(ErrorKind::corrupt, "a minute has lost its usage")));
    }
    minutes.emplace(mark, *counts);
  }
  return {};
}

// Adds what quotas still hold of [from, to) behind `after`; of all, the first `limit` stay.
Result<void> read_running(const Engine::View& view, const rocksdb::ReadOptions& moment,
                          Instant from, Instant to, const std::optional<UsageMark>& after,
                          std::size_t limit, Minutes& minutes) {
  Cursor quotas(view, Family::gateway_quota, {}, {}, moment);
  for (; PENSTOCK_TRY(quotas.more()); quotas.next()) {
    const UserId user = PENSTOCK_TRY(view.in_folder(decode_quota_key(quotas.key())));
    const QuotaRecord record = PENSTOCK_TRY(view.in_folder(decode_quota(quotas.value())));
    const UsageMark mark{.minute = record.minute, .user = user};
    const bool asked =
        record.sent > 0 && mark.minute >= from && mark.minute < to && (!after || mark > *after);
    if (!asked) continue;
    minutes[mark].sent += record.sent;
    if (minutes.size() > limit) minutes.erase(std::prev(minutes.end()));
  }
  return {};
}

}  // namespace

Result<std::vector<UserMinute>> EmbeddedUsageExport::page(Instant from, Instant to,
                                                          std::optional<UsageMark> after,
                                                          std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  // One moment for both: a message may move what its quota holds to a row meanwhile.
  rocksdb::ManagedSnapshot snapshot(&view.db());
  rocksdb::ReadOptions moment;
  moment.snapshot = snapshot.snapshot();
  const Instant first = minute_of(from);
  Minutes minutes;
  PENSTOCK_TRY(read_rows(view, moment, first, to, after, limit, minutes));
  PENSTOCK_TRY(read_running(view, moment, first, to, after, limit, minutes));
  std::vector<UserMinute> out;
  out.reserve(minutes.size());
  for (const auto& [mark, counts] : minutes) {
    out.push_back({.user = mark.user, .minute = mark.minute, .counts = counts});
  }
  return out;
}

Result<UsageExport::Turn> EmbeddedUsageExport::take_turn(std::string_view name, std::string_view,
                                                         Millis, std::optional<Instant>) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  const std::optional<Instant> done_to = PENSTOCK_TRY(
      view.find(Family::gateway_log, export_key(name), "read an export's position", decode_export));
  return Turn{.mine = true, .done_to = done_to};
}

Result<bool> EmbeddedUsageExport::set_done_to(std::string_view name, std::string_view,
                                              Instant done_to) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  changes.put(Family::gateway_log, export_key(name), encode_export(done_to));
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return true;
}

}  // namespace penstock::store::embedded
