// What a server and our role on it are like, for people who wonder why it does not work. Blocking;
// changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/postgres/connection.h"

namespace penstock::store::postgres {

// A right that the daemon needs and its role lacks.
struct MissingGrant {
  std::string privilege;  // "INSERT", "UPDATE (active)"
  std::string object;     // a name in the schema; empty = the schema itself
  bool sequence = false;

  friend bool operator==(const MissingGrant&, const MissingGrant&) = default;
};

struct ServerView {
  int version = 0;  // 150018 = 15.18
  std::string role;
  bool fsync = true;
  bool full_page_writes = true;
  std::string synchronous_commit;
  std::int32_t connections_max = 0;  // for those who are not superusers
  std::int64_t connections_used = 0;
  std::int32_t role_connections_max = -1;  // -1 = not limited
  bool read_only = false;                  // a standby, or told so
  Instant clock{};                         // of the server
  std::vector<MissingGrant> missing;
  std::int32_t schema = 0;   // 0 = none
  bool schema_known = true;  // false: the role may not look
};

DatabaseResult<ServerView> inspect(Connection& connection, const runtime::Deadline& deadline);

}  // namespace penstock::store::postgres
