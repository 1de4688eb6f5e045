// What a server and our account on it are like, for people who wonder why it does not work.
// Blocking; changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/mariadb/connection.h"

namespace penstock::store::mariadb {

struct ServerView {
  std::string version;  // "10.11.6-MariaDB-…"
  std::string account;  // user@host
  std::string database;
  std::int64_t connections_max = 0;
  std::int64_t connections_used = 0;
  std::int64_t flush_log_at_commit = 1;  // innodb_flush_log_at_trx_commit
  bool doublewrite = true;
  bool read_only = false;
  Instant clock{};                   // of the server
  std::int32_t schema = 0;           // 0 = none
  std::vector<std::string> refused;  // rights that the daemon needs: what the server says of them
};

DatabaseResult<ServerView> inspect(Connection& connection, const runtime::Deadline& deadline);

}  // namespace penstock::store::mariadb
