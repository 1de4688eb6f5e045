// One connection to PostgreSQL: blocking calls with a deadline, prepared statements made on first
// use, several statements in one round trip. A connection that failed to answer in time, or broke,
// is useless from then on: broken() is true and the owner drops it. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/time.h"
#include "engine/postgres/binary.h"
#include "engine/sql/database.h"
#include "runtime/clocks.h"

struct pg_conn;

namespace penstock::store::postgres {

// `message` as the server wrote it.
DatabaseError translate(std::string_view sqlstate, std::string_view message);

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
inline DatabaseError connection_lost(std::string_view message, bool sent) {
  return store::connection_lost("postgres", message, sent);
}

// The server rolled the call back for a reason that passes by itself: the same call may be sent
// again at once (serialization failure, deadlock, the same event inserted elsewhere meanwhile).
bool worth_repeating(const DatabaseError& error) noexcept;

inline constexpr std::string_view kUniqueViolation = "23505";

struct ConnectOptions {
  std::string url;       // libpq URI or keywords; TLS modes as libpq
  std::string password;  // empty = what the URL, the environment or the pass file says
  std::string application_name = "penstock";  // the URL may say otherwise
  // The server gives up on a statement, and on a lock, a little before our own deadline: an answer
  // that says "rolled back" is worth more than silence.
  Millis statement_timeout{1'800};
  Millis lock_timeout{1'500};
  // A transaction that its node left behind must not hold locks for longer than this.
  Millis idle_transaction_timeout{60'000};
  // False: a commit returns before it is on disk; a crash of the server may forget the last ones.
  bool durable = true;
};

struct Notification {
  std::string channel;
  std::string payload;
};

// One statement of a round trip.
struct Call {
  const SqlFile& sql;
  Params params = {};
  // True: commits here, and the next call is a transaction of its own. False: the next call belongs
  // to the same transaction.
  bool commit = true;
};

// An embedded statement with its values.
template <class... Values>
Call call(std::string_view name, const Values&... values) {
  return {.sql = statement(name), .params = Params::of(values...)};
}

class Connection {
 public:
  // What ConnectionPool and Database want.
  using Options = ConnectOptions;
  using Call = postgres::Call;
  using Rows = postgres::Rows;
  static constexpr std::string_view kEngine = "postgres";
  template <class... Values>
  static Call call(std::string_view name, const Values&... values) {
    return postgres::call(name, values...);
  }
  static void in_one(std::span<Call> calls) {
    for (Call& call : calls) call.commit = &call == &calls.back();
  }
  static bool worth_repeating(const DatabaseError& error) noexcept {
    return postgres::worth_repeating(error);
  }

  static DatabaseResult<std::unique_ptr<Connection>> open(const ConnectOptions& options,
                                                          const runtime::Deadline& deadline);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Sends all calls at once and waits for all answers, one per call. On an error the first one is
  // returned; calls before the last commit point ahead of it have taken effect.
  DatabaseResult<std::vector<Rows>> run(std::span<const Call> calls,
                                        const runtime::Deadline& deadline);
  DatabaseResult<Rows> run(const Call& call, const runtime::Deadline& deadline);

  // Any SQL without parameters, several statements allowed; rows are thrown away. Not prepared.
  DatabaseResult<void> script(const std::string& sql, const runtime::Deadline& deadline);

  // Waits until a notification arrives, or the server says something that is not one, or `wake_fd`
  // (-1 = none) becomes readable, or the time is up. Empty = no notification. After LISTEN.
  DatabaseResult<std::optional<Notification>> notification(int wake_fd,
                                                           const runtime::Deadline& deadline);

  bool broken() const noexcept { return broken_; }
  // False: the server closed this connection while it lay idle. Does not block.
  bool still_open();
  int server_version() const noexcept;  // 150018 = 15.18

 private:
  using Handle = std::unique_ptr<pg_conn, void (*)(pg_conn*)>;

  explicit Connection(Handle handle) noexcept;

  DatabaseResult<void> connect(const runtime::Deadline& deadline);
  DatabaseResult<void> prepare_if_new(const SqlFile& sql);
  DatabaseResult<void> send(const Call& call);
  // Reads one result, whatever it is; null at the end of a statement's results.
  DatabaseResult<pg_result*> next_result(const runtime::Deadline& deadline);
  DatabaseResult<Rows> read_answer(const runtime::Deadline& deadline,
                                   std::optional<DatabaseError>& failed);
  DatabaseResult<void> wait(bool for_write, const runtime::Deadline& deadline);
  DatabaseError lost(bool sent);
  DatabaseError too_late();

  Handle handle_;
  bool broken_ = false;
  std::unordered_set<const char*> prepared_;  // by the address of the embedded name
};

using Pool = ConnectionPool<Connection>;
using Database = store::Database<Connection>;

}  // namespace penstock::store::postgres
