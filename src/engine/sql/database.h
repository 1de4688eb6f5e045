// How ports ask an SQL engine: take a connection, send the calls, give it back, in a line. The same
// for each engine; `Connection` brings its calls, its answers and what is worth repeating.
//
// Beside what ConnectionPool wants, a `Connection` says: `Call`; `Rows`; `call(name, values...)`,
// an embedded statement with its values; `run(calls, deadline)`; `in_one(calls)`, which makes them
// one transaction; and `worth_repeating(error)`.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/sql/connection_pool.h"
#include "engine/sql/errors.h"

namespace penstock::store {

// Thread-safe; copies use the same pool, which must outlive them.
template <class Connection>
class Database {
 public:
  using Pool = ConnectionPool<Connection>;
  using Call = typename Connection::Call;
  using Rows = typename Connection::Rows;

  // `limit` bounds each call, waiting for a connection included.
  Database(Pool& pool, Millis limit) : pool_(&pool), limit_(limit) {}

  Pool& pool() const { return *pool_; }
  runtime::Deadline deadline() const { return runtime::Deadline(limit_); }

  // All calls in one round trip; an answer for each.
  DatabaseResult<std::vector<Rows>> run(std::span<const Call> calls,
                                        const runtime::Deadline& deadline) const {
    auto lease = PENSTOCK_TRY(pool_->acquire(deadline));
    return lease->run(calls, deadline);
  }
  Result<std::vector<Rows>> ask_all(std::span<const Call> calls) const {
    return run(calls, deadline());
  }

  // One embedded statement with its values.
  template <class... Values>
  Result<Rows> ask(std::string_view name, const Values&... values) const {
    const Call calls[] = {Connection::call(name, values...)};
    std::vector<Rows> answers = PENSTOCK_TRY(ask_all(calls));
    return std::move(answers.front());
  }
  // Without an answer.
  template <class... Values>
  Result<void> tell(std::string_view name, const Values&... values) const {
    PENSTOCK_TRY(ask(name, values...));
    return {};
  }

  // The same, and again while the engine took it back for a reason that passes by itself.
  template <class... Values>
  Result<Rows> insist(std::string_view name, const Values&... values) const {
    const Call calls[] = {Connection::call(name, values...)};
    std::vector<Rows> answers = PENSTOCK_TRY(insist_all(calls));
    return std::move(answers.front());
  }
  Result<std::vector<Rows>> insist_all(std::span<const Call> calls) const {
    const runtime::Deadline limit = deadline();
    for (int tried = 1;; ++tried) {
      auto answers = run(calls, limit);
      if (answers || !again(answers.error(), tried, limit)) return answers;
    }
  }
  // Whether a call that failed so at this attempt, from 1, should be sent once more.
  static bool again(const DatabaseError& error, int tried, const runtime::Deadline& deadline) {
    return Connection::worth_repeating(error) && tried < kAttempts && !deadline.passed();
  }

 private:
  Pool* pool_;
  Millis limit_;
};

// A transaction on a borrowed connection; rolled back unless it was committed. One thread at a
// time.
template <class Connection>
class Transaction {
 public:
  using Call = typename Connection::Call;
  using Rows = typename Connection::Rows;

  // Begins with these calls, in one round trip; `before` are sent ahead, each its own transaction.
  // One that is open ends without a trace ahead of all. Answers to all of it; those to the calls
  // are the last.
  DatabaseResult<std::vector<Rows>> begin(std::vector<Call> calls, std::vector<Call> before = {}) {
    std::vector<Call> all;
    if (is_open_) all.push_back(Connection::call("rollback"));
    std::ranges::move(before, std::back_inserter(all));
    const std::size_t ahead = all.size();
    all.push_back(Connection::call("begin"));
    std::ranges::move(calls, std::back_inserter(all));
    Connection::in_one(std::span(all).subspan(ahead));
    is_open_ = true;
    return connection_.run(all, deadline_);
  }
  DatabaseResult<void> commit(std::vector<Call> calls) {
    calls.push_back(Connection::call("commit"));
    Connection::in_one(calls);
    PENSTOCK_TRY(connection_.run(calls, deadline_));
    is_open_ = false;
    return {};
  }
  // For what comes now.
  void renew(const runtime::Deadline& deadline) { deadline_ = deadline; }
  void roll_back() {
    if (!std::exchange(is_open_, false) || connection_.broken()) return;
    const Call calls[] = {Connection::call("rollback")};
    std::ignore = connection_.run(calls, deadline_);
  }

  Transaction(Connection& connection, const runtime::Deadline& deadline)
      : connection_(connection), deadline_(deadline) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { roll_back(); }

 private:
  Connection& connection_;
  runtime::Deadline deadline_;
  bool is_open_ = false;
};

}  // namespace penstock::store
