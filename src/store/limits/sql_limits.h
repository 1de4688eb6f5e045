// The ports of throttle limits on an SQL engine: usage of keys, policies, nodes. The same for each
// engine, which has statements of the same names beside its code. `Sql` says what differs:
// `Connection`; the calls `look(keys)`, `lock(keys)`, `make(missing, now)` that read, lock and make
// rows; `write(keys, changes)`, the calls that write usage, each of them one round trip;
// `reset(database, key)`; `list(after, limit, now)`; `sweep(database, after, keys, now)`;
// `beat(database, node, within)`.
//
// Thread-safe; calls run in parallel as far as the pool has connections and their keys differ.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sql/database.h"
#include "engine/sql/values.h"
#include "store/limits/policy_change.h"
#include "store/limits/ports.h"
#include "store/limits/usage_batch.h"
#include "wire/described.h"

namespace penstock::store {

// The rows of throttle_usage behind one batch: one round trip to lock and read, one to write and
// commit. Borrows the connection. One thread at a time.
template <class Sql>
class SqlUsage final : public UsageSession {
 public:
  using Connection = typename Sql::Connection;
  using Call = typename Connection::Call;
  using Rows = typename Connection::Rows;
  using Keys = std::span<const std::string_view>;

  SqlUsage(Connection& connection, const runtime::Deadline& deadline)
      : connection_(connection), deadline_(deadline), transaction_(connection, deadline) {}

  UsageResult<Read> look(Keys keys, std::optional<Instant> now) override {
    std::vector<Call> calls = {Sql::look(keys)};
    if (!now) calls.push_back(Connection::call("clock"));
    Connection::in_one(calls);
    return read(connection_.run(calls, deadline_), keys, now);
  }

  UsageResult<Read> lock(Keys keys, Keys missing, std::optional<Instant> now) override {
    std::vector<Call> before;
    if (!missing.empty()) before.push_back(Sql::make(missing, now));
    std::vector<Call> calls = {Sql::lock(keys)};
    if (!now) calls.push_back(Connection::call("clock"));
    return read(transaction_.begin(std::move(calls), std::move(before)), keys, now);
  }

  UsageResult<void> commit(Keys keys, std::span<const BatchStates::Change> changes) override {
    std::vector<Call> writes = changes.empty() ? std::vector<Call>{} : Sql::write(keys, changes);
    std::vector<Call> last;  // goes with the commit
    for (Call& write : writes) {
      if (&write == &writes.back()) {
        last.push_back(std::move(write));
      } else if (auto done = connection_.run({&write, 1}, deadline_); !done) {
        return std::unexpected(failed(std::move(done.error())));
      }
    }
    if (auto done = transaction_.commit(std::move(last)); !done) {
      return std::unexpected(failed(std::move(done.error())));
    }
    return {};
  }

 private:
  // The last answer is the time, unless `now` is given; the one before it holds the rows.
  UsageResult<Read> read(DatabaseResult<std::vector<Rows>> answers, Keys keys,
                         std::optional<Instant> now) {
    if (!answers) return std::unexpected(failed(std::move(answers.error())));
    answers_ = std::move(*answers);
    Read read;
    const Rows& rows = answers_[answers_.size() - (now ? 1 : 2)];
    read.rows.reserve(static_cast<std::size_t>(rows.size()));
    // Both ascend by the bytes of the keys.
    std::size_t key = 0;
    for (const auto row : rows) {
      const std::string_view name = row[0];
      while (key < keys.size() && keys[key] != name) ++key;
      if (key == keys.size()) break;
      read.rows.push_back({.key = key, .record = row[1]});
    }
    read.now = now ? *now : answers_.back()[0][0].template as<Instant>();
    return read;
  }

  UsageProblem failed(DatabaseError error) {
    transaction_.roll_back();
    const bool repeat =
        Connection::worth_repeating(error) && !connection_.broken() && !deadline_.passed();
    return {.error = std::move(error.error), .repeat = repeat};
  }

  Connection& connection_;
  const runtime::Deadline deadline_;
  Transaction<Connection> transaction_;
  std::vector<Rows> answers_;
};

template <class Sql>
class SqlLimits final : public LimitStore {
 public:
  // `database`: of connections that need not wait for the disk; usage is soft state.
  explicit SqlLimits(Database<typename Sql::Connection> database) : database_(database) {}

  void apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
             std::span<Result<LimitAnswer>> answers) override {
    const runtime::Deadline deadline = database_.deadline();
    auto lease = database_.pool().acquire(deadline);
    if (!lease) {
      std::ranges::fill(answers, Result<LimitAnswer>(std::unexpected(lease.error().error)));
      return;
    }
    SqlUsage<Sql> session(**lease, deadline);
    apply_in_transactions(session, requests, now, answers);
  }

  Result<bool> reset(std::string_view key) override { return Sql::reset(database_, key); }

  Result<std::optional<KeyUse>> find(std::string_view key, std::optional<Instant> now) override {
    const runtime::Deadline deadline = database_.deadline();
    const auto lease = PENSTOCK_TRY(database_.pool().acquire(deadline));
    SqlUsage<Sql> session(*lease, deadline);
    return find_use(session, key, now);
  }

  Result<std::vector<KeyUse>> list(std::string_view after, std::size_t limit,
                                   std::optional<Instant> now) override {
    const auto calls = {Sql::list(after, limit, now)};
    const auto answers = PENSTOCK_TRY(database_.ask_all(calls));
    std::vector<KeyUse> uses;
    for (const auto row : answers.front()) {
      std::optional<KeyUse> use = PENSTOCK_TRY(use_of(row[0], row[1], row[2]));
      if (use) uses.push_back(std::move(*use));
    }
    return uses;
  }

 private:
  Database<typename Sql::Connection> database_;
};

template <class Sql>
class SqlSweep final : public LimitSweep {
 public:
  explicit SqlSweep(Database<typename Sql::Connection> database) : database_(database) {}

  Result<Swept> sweep(std::size_t keys, std::optional<Instant> now) override {
    auto [swept, last] = PENSTOCK_TRY(Sql::sweep(database_, after_, keys, now));
    swept.round_done = swept.seen < keys;
    after_ = swept.round_done ? std::string() : std::move(last);
    return swept;
  }

 private:
  Database<typename Sql::Connection> database_;
  std::string after_;  // of the one caller
};

// Which node said last when that it is alive.
template <class Sql>
class SqlNodes final : public NodeRegistry {
 public:
  explicit SqlNodes(Database<typename Sql::Connection> database) : database_(database) {}

  Result<std::size_t> beat(std::string_view node, Millis within) override {
    return Sql::beat(database_, node, within);
  }
  Result<void> leave(std::string_view node) override { return database_.tell("leave_node", node); }

 private:
  Database<typename Sql::Connection> database_;
};

template <class Connection>
class SqlHealth final : public StoreHealth {
 public:
  explicit SqlHealth(Database<Connection> database) : database_(database) {}
  Result<void> check() override { return database_.tell("ping"); }

 private:
  Database<Connection> database_;
};

// Policies: every version is a row, changes come one after the other.
template <class Sql>
class SqlPolicies final : public PolicyStore {
 public:
  using Connection = typename Sql::Connection;
  using Row = typename Connection::Rows::Row;

  // `database`: of connections whose commits wait for the disk.
  explicit SqlPolicies(Database<Connection> database) : database_(database) {}

  Result<std::optional<core::Policy>> find(std::string_view key) override {
    std::vector<core::Policy> newest = PENSTOCK_TRY(read("newest_policy", key));
    if (newest.empty() || newest.front().deleted) return std::nullopt;
    return std::move(newest.front());
  }
  Result<core::Policy> create(const core::PolicyDraft& draft, std::optional<Instant> now) override {
    PENSTOCK_TRY(check_record(draft));
    return change(PolicyChange::create, draft, now);
  }
  Result<core::Policy> update(const core::PolicyDraft& draft, std::optional<Instant> now) override {
    PENSTOCK_TRY(check_record(draft));
    return change(PolicyChange::update, draft, now);
  }
  Result<void> remove(std::string_view key, std::optional<Instant> now) override {
    core::PolicyDraft draft;
    draft.key = key;
    PENSTOCK_TRY(change(PolicyChange::remove, draft, now));
    return {};
  }
  Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) override {
    return read("list_policies", after, limit);
  }
  Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) override {
    return read("policy_history", key, limit);
  }
  Result<std::uint64_t> revision() override {
    const auto rows = PENSTOCK_TRY(database_.ask("policy_revision"));
    return rows[0][0].template as<std::uint64_t>();
  }

 private:
  static Result<core::Policy> policy_of(Row row) {
    return stored_policy({.id = row[0], .version = row[1], .changed = row[2], .deleted = row[3]},
                         row[4]);
  }
  static auto put_of(const core::Policy& policy) {
    return Connection::call("put_policy", policy.draft.key, policy.id, policy.version,
                            policy.changed, policy.deleted, wire::to_document(policy.draft));
  }

  template <class... Values>
  Result<std::vector<core::Policy>> read(std::string_view name, const Values&... values) {
    const auto rows = PENSTOCK_TRY(database_.ask(name, values...));
    std::vector<core::Policy> policies;
    for (const auto row : rows) {
      core::Policy policy = PENSTOCK_TRY(policy_of(row));
      policies.push_back(std::move(policy));
    }
    return policies;
  }

  Result<core::Policy> change(PolicyChange kind, const core::PolicyDraft& draft,
                              std::optional<Instant> now) {
    const runtime::Deadline deadline = database_.deadline();
    const auto lease = PENSTOCK_TRY(database_.pool().acquire(deadline));
    Transaction<Connection> transaction(*lease, deadline);
    const auto begun = PENSTOCK_TRY(transaction.begin(
        {Connection::call("lock_policies"), Connection::call("policy_revision"),
         Connection::call("newest_policy", draft.key), Connection::call("clock")}));
    std::optional<core::Policy> newest;
    if (!begun[3].empty()) newest = PENSTOCK_TRY(policy_of(begun[3][0]));
    // The number of the change that first made a key is an id that no other key can have.
    core::Policy next =
        PENSTOCK_TRY(next_version(kind, draft, newest, /*fresh_id=*/begun[2][0][0],
                                  now ? *now : begun[4][0][0].template as<Instant>()));
    PENSTOCK_TRY(transaction.commit({Connection::call("age_policy", draft.key), put_of(next)}));
    return next;
  }

  Database<Connection> database_;
};

}  // namespace penstock::store
