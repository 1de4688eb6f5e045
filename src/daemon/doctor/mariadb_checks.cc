#include "daemon/doctor/mariadb_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string>
#include <string_view>

#include "daemon/doctor/server_judgements.h"
#include "daemon/stores.h"
#include "runtime/system_clock.h"

namespace penstock::daemon::doctor {
namespace {

// 10.6 of MariaDB, 8.0 of MySQL: docs/mariadb.md.
bool is_new_enough(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto read = std::from_chars(version.data(), end, major);
  if (read.ptr != end) std::from_chars(read.ptr + 1, end, minor);
  const bool mariadb = version.find("MariaDB") != version.npos;
  return mariadb ? major > 10 || (major == 10 && minor >= 6) : major >= 8;
}

Finding judge_mariadb_server(const store::mariadb::ServerView& view) {
  const std::string found = fmt::format("{}, account {}", view.version, view.account);
  if (is_new_enough(view.version)) return ok("mariadb.server", found);
  return failed("mariadb.server", found, "upgrade the server to MariaDB 10.6 or newer, or MySQL 8");
}

Finding judge_writable(const store::mariadb::ServerView& view) {
  if (!view.read_only) return ok("mariadb.writable", "the server takes writes");
  return failed("mariadb.writable", "read_only is on: a replica, or told so",
                "name the primary in store.mariadb.url, or there: SET GLOBAL read_only = OFF");
}

Finding judge_mariadb_schema(const store::mariadb::ServerView& view, std::int32_t known) {
  constexpr const char* kName = "mariadb.schema";
  if (view.schema == 0 && !view.refused.empty()) {
    return skipped(kName, "the account may not look at the tables; see mariadb.grants");
  }
  return judge_version(kName, view.schema, known, "the tables are not there",
                       "account that owns the tables");
}

Finding judge_mariadb_grants(const store::mariadb::ServerView& view) {
  constexpr const char* kName = "mariadb.grants";
  if (!view.refused.empty()) {
    const std::size_t at = view.account.find('@');
    return failed(kName, fmt::format("{}", fmt::join(view.refused, "; ")),
                  fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON {}.* TO '{}'@'{}';",
                              view.database, view.account.substr(0, at),
                              at == view.account.npos ? "%" : view.account.substr(at + 1)));
  }
  if (view.schema == 0) return skipped(kName, "there are no tables yet");
  return ok(kName, fmt::format("{} may do all that it needs", view.account));
}

Finding judge_mariadb_durability(const store::mariadb::ServerView& view) {
  constexpr const char* kName = "mariadb.durability";
  const std::string found = fmt::format("innodb_flush_log_at_trx_commit {}, innodb_doublewrite {}",
                                        view.flush_log_at_commit, view.doublewrite ? "on" : "off");
  if (!view.doublewrite) {
    return warning(kName, found + ": a crash of the machine may damage pages",
                   "set innodb_doublewrite = ON in my.cnf and restart the server");
  }
  if (view.flush_log_at_commit == 1) return ok(kName, found);
  return warning(kName,
                 found + ": a crash forgets about a second of usage and of changes of policies",
                 "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in my.cnf");
}

}  // namespace

Findings judge_mariadb(const store::mariadb::ServerView& view, std::int64_t connections,
                       std::int32_t known_schema) {
  return {judge_mariadb_server(view),
          judge_writable(view),
          judge_mariadb_schema(view, known_schema),
          judge_mariadb_grants(view),
          judge_mariadb_durability(view),
          judge_room("mariadb.connections", view.connections_used, view.connections_max,
                     connections, "store.mariadb.connections")};
}

Findings check_mariadb(const Config& config, const runtime::Deadline& deadline) {
  if (config.mariadb.url.empty()) return {skipped("mariadb", "store.mariadb.url is not set")};
  const auto unreachable = [](const store::mariadb::DatabaseError& problem) -> Findings {
    return {failed("mariadb.server", problem.error.what,
                   "start MariaDB, or correct store.mariadb.url (host, database, user) and "
                   "store.mariadb.password-file")};
  };
  auto connection = store::mariadb::Connection::open(
      store::mariadb::connect_options(mariadb_options(config)), deadline);
  if (!connection) return unreachable(connection.error());
  const runtime::SystemClock clock;
  const Instant before = clock.now();
  const auto view = store::mariadb::inspect(**connection, deadline);
  const Instant after = clock.now();
  if (!view) return unreachable(view.error());
  // Decisions have their own connections, policies and upkeep as many again.
  Findings findings =
      judge_mariadb(*view, static_cast<std::int64_t>(2 * config.mariadb.connections),
                    store::mariadb::schema_version());
  findings.push_back(
      judge_skew("mariadb.clock", view->clock, before + (after - before) / 2, after - before));
  return findings;
}

}  // namespace penstock::daemon::doctor
