// What MariaDB has of its own for throttle limits: see store/limits/sql_limits.h.
#pragma once

#include "engine/mariadb/connection.h"
#include "store/limits/sql_limits.h"

namespace penstock::store::mariadb {

struct LimitSql {
  using Connection = mariadb::Connection;
  using Keys = std::span<const std::string_view>;

  static std::string look(Keys keys) { return call("look_usage", keys); }
  static std::string lock(Keys keys) { return call("lock_usage", keys); }
  static std::string make(Keys missing, std::optional<Instant> now) {
    return Query(statement("make_usage"))
        .rows(missing.size(),
              [&](Query& row, std::size_t i) { row.bytes(missing[i]).number(epoch_us(now)); })
        .text();
  }

  static std::vector<std::string> write(Keys keys, std::span<const BatchStates::Change> changes) {
    std::vector<std::string> texts;
    while (!changes.empty()) {
      const std::size_t count = that_fit(changes);
      texts.push_back(Query(statement("write_usage"))
                          .rows(count,
                                [&](Query& row, std::size_t i) {
                                  row.bytes(keys[changes[i].key])
                                      .bytes(changes[i].record)
                                      .number(epoch_us(changes[i].idle_at));
                                })
                          .text());
      changes = changes.subspan(count);
    }
    return texts;
  }

  static Result<bool> reset(const Database& database, std::string_view key) {
    const std::string calls[] = {call("begin"), lock({&key, 1}), call("reset_usage", key),
                                 call("commit")};
    const runtime::Deadline deadline = database.deadline();
    const auto lease = PENSTOCK_TRY(database.pool().acquire(deadline));
    for (int tried = 1;; ++tried) {
      auto answers = lease->run(calls, deadline);
      if (answers) return !(*answers)[1].empty() && !(*answers)[1].text(0, 1).empty();
      if (!lease->broken()) std::ignore = lease->run(call("rollback"), deadline);
      // Another node may hold the row a moment too long.
      if (lease->broken() || !Database::again(answers.error(), tried, deadline)) {
        return std::unexpected(std::move(answers.error().error));
      }
    }
  }

  static std::string list(std::string_view after, std::size_t limit, std::optional<Instant> now) {
    return call("list_usage", now, after, now, limit);
  }

  // And the last key that it looked at.
  static Result<std::pair<LimitSweep::Swept, std::string>> sweep(const Database& database,
                                                                 std::string_view after,
                                                                 std::size_t keys,
                                                                 std::optional<Instant> now) {
    const Rows rows = PENSTOCK_TRY(database.ask("sweep_look", now, after, keys));
    std::vector<std::string_view> idle;
    for (const auto row : rows) {
      if (row[1]) idle.push_back(row[0]);
    }
    if (!idle.empty()) PENSTOCK_TRY(database.tell("sweep_drop", idle, now));
    const auto seen = static_cast<std::size_t>(rows.size());
    return std::pair(LimitSweep::Swept{.seen = seen, .dropped = idle.size()},
                     rows.empty() ? std::string() : std::string(rows.text(rows.size() - 1, 0)));
  }

  // Each a transaction of its own, so that two nodes never wait for each other in a circle.
  static Result<std::size_t> beat(const Database& database, std::string_view node, Millis within) {
    const std::string calls[] = {call("beat_node", node), call("forget_nodes", within, node),
                                 call("count_nodes")};
    const auto answers = PENSTOCK_TRY(database.ask_all(calls));
    return answers.back()[0][0].as<std::size_t>();
  }

 private:
  // The server takes packets of 16 MiB unless told otherwise; bytes are sent as twice as many
  // digits.
  static constexpr std::size_t kWriteBytesMax = 4 << 20;

  // The changes from the front that fit into one statement.
  static std::size_t that_fit(std::span<const BatchStates::Change> changes) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    for (; count < changes.size(); ++count) {
      bytes += 2 * (changes[count].record.size() + 600);
      if (count > 0 && bytes > kWriteBytesMax) break;
    }
    return count;
  }
};

using Limits = SqlLimits<LimitSql>;
using Sweep = SqlSweep<LimitSql>;
using Policies = SqlPolicies<LimitSql>;
using Nodes = SqlNodes<LimitSql>;

}  // namespace penstock::store::mariadb
