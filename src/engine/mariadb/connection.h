// One connection to MariaDB or MySQL: blocking calls with a deadline, several statements in one
// round trip. A connection that failed to answer in time, or broke, is useless from then on:
// broken() is true and the owner drops it. One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/mariadb/address.h"
#include "engine/mariadb/query.h"
#include "engine/sql/database.h"
#include "runtime/clocks.h"

struct st_mysql;

namespace penstock::store::mariadb {

// `message` as the server wrote it.
DatabaseError translate(unsigned number, std::string_view message);

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
inline DatabaseError connection_lost(std::string_view message, bool sent) {
  return store::connection_lost("mariadb", message, sent);
}

// The server rolled the call back for a reason that passes by itself: the same call may be sent
// again at once.
bool worth_repeating(const DatabaseError& error) noexcept;

inline constexpr std::string_view kNoSuchTable = "1146";

struct ConnectOptions {
  Address address;
  // The server gives up on a statement a little before our own deadline: an answer that says
  // "rolled back" is worth more than silence. MySQL does so for locks only, and in whole seconds.
  Millis statement_timeout{1'800};
  // A transaction that its node left behind must not hold locks for longer than this.
  Millis idle_transaction_timeout{60'000};
};

class Connection {
 public:
  // What ConnectionPool and Database want.
  using Options = ConnectOptions;
  using Call = std::string;  // the text of a statement
  using Rows = mariadb::Rows;
  static constexpr std::string_view kEngine = "mariadb";
  template <class... Values>
  static Call call(std::string_view name, const Values&... values) {
    return mariadb::call(name, values...);
  }
  static void in_one(std::span<Call> /*calls*/) {}  // what was begun is one until it is committed
  static bool worth_repeating(const DatabaseError& error) noexcept {
    return mariadb::worth_repeating(error);
  }

  static DatabaseResult<std::unique_ptr<Connection>> open(const ConnectOptions& options,
                                                          const runtime::Deadline& deadline);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Sends all statements at once and waits for all answers, one for each. On an error the rest is
  // not executed; what a transaction that was begun holds is still held.
  DatabaseResult<std::vector<Rows>> run(std::span<const std::string> statements,
                                        const runtime::Deadline& deadline);
  DatabaseResult<Rows> run(std::string statement, const runtime::Deadline& deadline);

  bool broken() const noexcept { return broken_; }
  // False: the server closed this connection while it lay idle. Does not block.
  bool still_open();

 private:
  using Handle = std::unique_ptr<st_mysql, void (*)(st_mysql*)>;

  explicit Connection(Handle handle) noexcept;

  DatabaseResult<void> connect(const ConnectOptions& options, const runtime::Deadline& deadline);
  // Drives one operation of the client library, which says after each step what it waits for (0 =
  // done). False: time is up, and the operation has been broken off.
  bool drive(int wants, const std::function<int(int)>& go_on, const runtime::Deadline& deadline);
  int wait(int wants, const runtime::Deadline& deadline);
  DatabaseResult<std::vector<Rows>> read_answers(std::size_t count,
                                                 const runtime::Deadline& deadline);
  DatabaseError problem(bool sent);
  DatabaseError too_late();

  Handle handle_;
  bool broken_ = false;
};

using Pool = ConnectionPool<Connection>;
using Database = store::Database<Connection>;

}  // namespace penstock::store::mariadb
