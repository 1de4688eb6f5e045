#include "store/quota/embedded/embedded_usage_export.h"

#include <rocksdb/snapshot.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/rocksdb/cursor.h"
#include "store/quota/embedded/delivery_encoding.h"
#include "store/quota/embedded/quota_encoding.h"

namespace penstock::store::embedded {
namespace {

using Minutes = std::map<UsageMark, UsageCounts>;

// Rows of [from, to) behind `after`, at most `limit`.
Result<void> read_rows(const Engine::View& view, const rocksdb::Snapshot* moment, Instant from,
                       Instant to, const std::optional<UsageMark>& after, std::size_t limit,
                       Minutes& minutes) {
  rocksdb::ReadOptions options;
  options.snapshot = moment;
  const Instant begin = after ? std::max(from, after->minute) : from;
  Cursor rows(view, Family::gateway_log, usage_time_key(begin), usage_time_key(to), moment);
  for (; rows.valid(); rows.next()) {
    const Result<UsagePlace> place = decode_usage_time_key(rows.key());
    if (!place) return std::unexpected(view.in_folder(place.error()));
    const UsageMark mark{.minute = place->minute, .user = place->user};
    if (after && mark <= *after) continue;
    if (minutes.size() == limit) return {};
    std::string value;
    const rocksdb::Status status = view.db().Get(options, view.family(Family::gateway_log),
                                                 usage_key(place->user, place->minute), &value);
    if (!status.ok()) return std::unexpected(view.translate(status, "read the usage of a user"));
    const Result<UsageCounts> counts = decode_usage(value);
    if (!counts) return std::unexpected(view.in_folder(counts.error()));
    minutes.emplace(mark, *counts);
  }
  return rows.status();
}

// Adds what quotas still hold of [from, to) behind `after`; of all, the first `limit` stay.
Result<void> read_running(const Engine::View& view, const rocksdb::Snapshot* moment, Instant from,
                          Instant to, const std::optional<UsageMark>& after, std::size_t limit,
                          Minutes& minutes) {
  Cursor quotas(view, Family::gateway_quota, {}, {}, moment);
  for (; quotas.valid(); quotas.next()) {
    const Result<UserId> user = decode_quota_key(quotas.key());
    if (!user) return std::unexpected(view.in_folder(user.error()));
    const Result<QuotaRecord> record = decode_quota(quotas.value());
    if (!record) return std::unexpected(view.in_folder(record.error()));
    const UsageMark mark{.minute = record->minute, .user = *user};
    const bool asked =
        record->sent > 0 && mark.minute >= from && mark.minute < to && (!after || mark > *after);
    if (!asked) continue;
    minutes[mark].sent += record->sent;
    if (minutes.size() > limit) minutes.erase(std::prev(minutes.end()));
  }
  return quotas.status();
}

}  // namespace

Result<std::vector<UserMinute>> EmbeddedUsageExport::page(Instant from, Instant to,
                                                          std::optional<UsageMark> after,
                                                          std::size_t limit) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  // One moment for both: a message may move what its quota holds to a row meanwhile.
  rocksdb::ManagedSnapshot moment(&view->db());
  const Instant first = minute_of(from);
  Minutes minutes;
  Result<void> read = read_rows(*view, moment.snapshot(), first, to, after, limit, minutes);
  if (read) read = read_running(*view, moment.snapshot(), first, to, after, limit, minutes);
  if (!read) return std::unexpected(std::move(read.error()));
  std::vector<UserMinute> out;
  out.reserve(minutes.size());
  for (const auto& [mark, counts] : minutes) {
    out.push_back({.user = mark.user, .minute = mark.minute, .counts = counts});
  }
  return out;
}

Result<UsageExport::Turn> EmbeddedUsageExport::take_turn(std::string_view name, std::string_view,
                                                         Millis, std::optional<Instant>) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::string value;
  const rocksdb::Status status = view->db().Get(
      rocksdb::ReadOptions(), view->family(Family::gateway_log), export_key(name), &value);
  if (status.IsNotFound()) return Turn{.mine = true, .done_to = std::nullopt};
  if (!status.ok()) return std::unexpected(view->translate(status, "read an export's position"));
  const Result<Instant> done_to = decode_export(value);
  if (!done_to) return std::unexpected(view->in_folder(done_to.error()));
  return Turn{.mine = true, .done_to = *done_to};
}

Result<bool> EmbeddedUsageExport::set_done_to(std::string_view name, std::string_view,
                                              Instant done_to) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  const rocksdb::Status status =
      batch.Put(view->family(Family::gateway_log), export_key(name), encode_export(done_to));
  if (!status.ok()) return std::unexpected(view->translate(status, "write an export's position"));
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return true;
}

}  // namespace penstock::store::embedded
