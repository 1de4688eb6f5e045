// The refused variant: the same placement by core::place in this process, inside one transaction
// that holds the pool lock over two round trips. One config; enough to measure.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/slots/placement.h"
#include "workload.h"

namespace penstock::bench {

class ClientPlacement {
 public:
  ClientPlacement(const Database& database, std::size_t connections, std::int64_t places)
      : places_(places) {
    for (std::size_t i = 0; i < connections; ++i) connections_.push_back(database.connect());
  }

  void assign(std::size_t thread, const std::vector<SlotRequest>& requests) {
    std::vector<std::string_view> ids;
    std::vector<std::int64_t> wanted;
    for (const SlotRequest& request : requests) {
      ids.emplace_back(request.event.str());
      const core::WindowIndex first = core::window_of(request.requested, kWindow);
      wanted.push_back(core::window_start(first, kWindow).time_since_epoch().count() / 1'000);
    }
    // All first windows, and the next few behind the frontier that this node knows.
    {
      const std::lock_guard lock(mutex_);
      const core::WindowIndex first = core::window_of(requests.front().requested, kWindow);
      const core::WindowIndex gap = full_.first_gap(first);
      // Each batch ahead of this one may fill three.
      const auto ahead = 4 + 3 * static_cast<core::WindowIndex>(connections_.size());
      for (core::WindowIndex w = gap; w < gap + ahead; ++w) {
        wanted.push_back(core::window_start(w, kWindow).time_since_epoch().count() / 1'000);
      }
    }
    Connection& connection = *connections_[thread];
    const Call open[] = {{.sql = kBegin, .params = {}, .commit = false},
                         {.sql = kAsync, .params = {}, .commit = false},
                         {.sql = kKnown, .params = Params().texts(ids), .commit = false},
                         {.sql = kLock, .params = {}, .commit = false},
                         {.sql = kRead, .params = Params().int8s(wanted)}};
    const auto read = must(connection.run(open, kPatient));
    std::map<core::WindowIndex, std::int64_t> used;
    for (int row = 0; row < read[4].size(); ++row) {
      used[core::window_of(from_epoch_millis(read[4].int8(row, 0)), kWindow)] =
          read[4].int4(row, 1);
    }
    std::map<core::WindowIndex, std::int64_t> charged;
    std::vector<std::int64_t> requested, starts, scheduled;
    {
      const std::lock_guard lock(mutex_);
      for (const SlotRequest& request : requests) {
        const auto placed = core::place({.requested = request.requested,
                                         .max_delay = request.max_delay,
                                         .max_per_window = places_,
                                         .window_size = kWindow,
                                         .entropy = request.entropy},
                                        full_, [&](core::WindowIndex w) { return used[w]; });
        ++used[placed->window];
        ++charged[placed->window];
        requested.push_back(to_epoch_millis(request.requested));
        starts.push_back(to_epoch_millis(placed->window_start));
        scheduled.push_back(to_epoch_millis(placed->scheduled));
      }
    }
    std::vector<std::int64_t> windows, totals;
    for (const auto& [window, count] : charged) {
      windows.push_back(to_epoch_millis(core::window_start(window, kWindow)));
      totals.push_back(used[window]);
    }
    const Call close[] = {
        {.sql = kInsert,
         .params = Params().texts(ids).int8s(requested).int8s(starts).int8s(scheduled),
         .commit = false},
        {.sql = kCount, .params = Params().int8s(windows).int8s(totals), .commit = false},
        {.sql = kCommit, .params = {}},
        {.sql = store::postgres::statement("flush")}};
    must(connection.run(close, kPatient));
  }

 private:
  static constexpr SqlFile kBegin{"c_begin", "BEGIN"};
  static constexpr SqlFile kCommit{"c_commit", "COMMIT"};
  static constexpr SqlFile kAsync{"c_async", "SET LOCAL synchronous_commit = off"};
  static constexpr SqlFile kKnown{
      "c_known",
      "SELECT s.* FROM unnest($1::text[]) e(id) CROSS JOIN LATERAL (SELECT * FROM "
      "penstock.event_slot t WHERE t.event_id = e.id LIMIT 1) s"};
  static constexpr SqlFile kLock{"c_lock", "SELECT pg_advisory_xact_lock(1885434739, 1)"};
  static constexpr SqlFile kRead{
      "c_read",
      "SELECT e.start, s.used FROM (SELECT DISTINCT u FROM unnest($1::bigint[]) u) e(start) "
      "CROSS JOIN LATERAL (SELECT t.used FROM penstock.slot_window t WHERE t.pool_id = 1 "
      "AND t.window_start_ms = e.start ORDER BY t.generation DESC LIMIT 1) s"};
  static constexpr SqlFile kInsert{
      "c_insert",
      "INSERT INTO penstock.event_slot SELECT e.r, e.w, e.s, 0, 1, 0, e.id FROM "
      "unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) e(id, r, w, s) "
      "ORDER BY e.id COLLATE \"C\""};
  static constexpr SqlFile kCount{
      "c_count",
      "INSERT INTO penstock.slot_window SELECT e.w, 1, e.n, 0, 0 FROM unnest($1::bigint[], "
      "$2::bigint[]) e(w, n) ON CONFLICT (pool_id, window_start_ms, generation) "
      "DO UPDATE SET used = excluded.used"};

  const std::int64_t places_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::mutex mutex_;
  core::FullRuns full_;  // guarded by mutex_
};

}  // namespace penstock::bench
