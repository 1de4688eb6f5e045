// What PostgreSQL has of its own for throttle limits: see store/limits/sql_limits.h.
#pragma once

#include "engine/postgres/connection.h"
#include "store/limits/sql_limits.h"

namespace penstock::store::postgres {

struct LimitSql {
  using Connection = postgres::Connection;
  using Keys = std::span<const std::string_view>;

  static Call look(Keys keys) { return call("look_usage", bytes_of(keys)); }
  static Call lock(Keys keys) { return call("lock_usage", bytes_of(keys)); }
  static Call make(Keys missing, std::optional<Instant> now) {
    return call("make_usage", bytes_of(missing), now);
  }
  static std::vector<Call> write(Keys keys, std::span<const BatchStates::Change> changes) {
    const auto key = [&](const BatchStates::Change& change) { return keys[change.key]; };
    return {call("write_usage", Bytes{column(changes, key)},
                 Bytes{column(changes, &BatchStates::Change::record)},
                 column(changes, &BatchStates::Change::idle_at))};
  }
  static Result<bool> reset(const Database& database, std::string_view key) {
    const Rows rows = PENSTOCK_TRY(database.ask("reset_usage", key));
    return !rows.empty();
  }
  static Call list(std::string_view after, std::size_t limit, std::optional<Instant> now) {
    return call("list_usage", after, limit, now);
  }
  // And the last key that it looked at.
  static Result<std::pair<LimitSweep::Swept, std::string>> sweep(const Database& database,
                                                                 std::string_view after,
                                                                 std::size_t keys,
                                                                 std::optional<Instant> now) {
    const Rows rows = PENSTOCK_TRY(database.ask("sweep_usage", after, keys, now));
    return std::pair(LimitSweep::Swept{.seen = rows[0][0], .dropped = rows[0][1]},
                     std::string(rows.text(0, 2)));
  }
  static Result<std::size_t> beat(const Database& database, std::string_view node, Millis within) {
    const Rows rows = PENSTOCK_TRY(database.ask("beat_node", node, within));
    return rows[0][0].as<std::size_t>();
  }

 private:
  static Bytes bytes_of(Keys keys) { return {{keys.begin(), keys.end()}}; }
};

using Limits = SqlLimits<LimitSql>;
using Sweep = SqlSweep<LimitSql>;
using Policies = SqlPolicies<LimitSql>;
using Nodes = SqlNodes<LimitSql>;

}  // namespace penstock::store::postgres
