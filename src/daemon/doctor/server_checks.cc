#include "daemon/doctor/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "daemon/compose/stores.h"
#include "engine/redis/slots.h"
#include "runtime/clocks.h"

namespace penstock::daemon::doctor {
namespace {

// Due times are compared across machines: beyond the first people notice, beyond the second nothing
// that is said of time is true.
constexpr Millis kSkewNoticed{500};
constexpr Millis kSkewWrong = std::chrono::minutes{1};

// `found` 0 = there is none. `nothing` says so, `owner` who may migrate.
Finding judge_version(std::string name, std::int64_t found, std::int64_t known,
                      std::string_view nothing, std::string_view owner) {
  if (found == known) return ok(std::move(name), fmt::format("version {}", known));
  const std::string both = fmt::format("version {}, this program needs {}", found, known);
  if (found > known) {
    return failed(std::move(name), both, "run the newer penstock that made it, on this node too");
  }
  return failed(std::move(name), found == 0 ? std::string(nothing) : both,
                fmt::format("as the {} run: penstock migrate", owner));
}

// `needed` = that a node opens at most. `key` is the setting that lowers it.
Finding judge_room(std::string name, std::int64_t used, std::int64_t max, std::int64_t needed,
                   std::string_view key) {
  return graded(std::move(name), max < needed, max - used < needed,
                fmt::format("{} of {} in use, a node opens up to {}", used, max, needed),
                fmt::format("raise max_connections, or lower {}", key));
}

// What `look` sees by the judgement, and the server's clock by when it was asked.
template <class Look, class Judge, class Refused>
Findings timed(const char* clock_name, Look look, Judge judge, Refused refused) {
  const runtime::SystemClock clock;
  const Instant before = clock.now();
  const auto view = look();
  const Micros round_trip = clock.now() - before;
  if (!view) return refused(view.error());
  Findings findings = judge(*view);
  findings.push_back(judge_skew(clock_name, view->clock, before + round_trip / 2, round_trip));
  return findings;
}

using store::postgres::MissingGrant;

constexpr int kVersionMin = 150'000;  // docs/postgres.md

Finding judge_postgres_server(const store::postgres::ServerView& view) {
  const std::string found = fmt::format("PostgreSQL {}.{}, role {}", view.version / 10'000,
                                        view.version % 10'000, view.role);
  if (view.version >= kVersionMin) return ok("postgres.server", found);
  return failed("postgres.server", found, "upgrade the server to PostgreSQL 15 or newer");
}

Finding judge_primary(const store::postgres::ServerView& view) {
  if (!view.read_only) return ok("postgres.writable", "the server takes writes");
  return failed("postgres.writable", "the server is read-only: a standby, or told so",
                "name the primary in store.postgres.url, or all servers with "
                "target_session_attrs=read-write");
}

Finding judge_postgres_schema(const store::postgres::ServerView& view, std::int32_t known) {
  constexpr const char* kName = "postgres.schema";
  if (!view.schema_known) {
    return skipped(kName, "the role may not look at the schema penstock; see postgres.grants");
  }
  return judge_version(kName, view.schema, known, "there is no schema penstock",
                       "role that owns the schema");
}

bool is_needed(const MissingGrant& grant, const PostgresUse& use) {
  const std::string_view name = grant.object;
  const auto of = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (name.empty() || name == "schema_version") return true;
  if (of("slot_") || name == "event_slot" || of("event_slot_")) return use.slots || use.dispatch;
  if (of("throttle_") || name == "node_alive") return use.throttle;
  return use.dispatch;
}

// Retention and forgetting alone do without these.
bool is_for_forgetting(const MissingGrant& grant) {
  constexpr std::array<std::string_view, 3> kKept = {"slot_window", "event_slot", "dispatch_audit"};
  return grant.privilege == "DELETE" && std::ranges::find(kKept, grant.object) != kKept.end();
}

// One statement for each object, with all that it lacks.
std::string grant_statements(const std::vector<MissingGrant>& missing, const std::string& role) {
  std::map<std::string, std::vector<std::string>> privileges;
  for (const MissingGrant& grant : missing) {
    const std::string object = grant.object.empty() ? "SCHEMA penstock"
                               : grant.sequence     ? "SEQUENCE penstock." + grant.object
                                                    : "penstock." + grant.object;
    privileges[object].push_back(grant.privilege);
  }
  std::vector<std::string> statements;
  statements.reserve(privileges.size());
  for (const auto& [object, rights] : privileges) {
    statements.push_back(
        fmt::format("GRANT {} ON {} TO {};", fmt::join(rights, ", "), object, role));
  }
  return fmt::format("as the role that owns the schema run: {}", fmt::join(statements, " "));
}

Findings judge_postgres_grants(const store::postgres::ServerView& view, const PostgresUse& use) {
  constexpr const char* kName = "postgres.grants";
  if (view.schema == 0 && view.schema_known) return {skipped(kName, "there is no schema yet")};
  std::vector<MissingGrant> needed;
  std::vector<MissingGrant> wanted;
  for (const MissingGrant& grant : view.missing) {
    if (!is_needed(grant, use)) continue;
    (is_for_forgetting(grant) ? wanted : needed).push_back(grant);
  }
  Findings findings;
  if (!needed.empty()) {
    findings.push_back(failed(kName,
                              fmt::format("the role {} lacks {} right{}", view.role, needed.size(),
                                          needed.size() == 1 ? "" : "s"),
                              grant_statements(needed, view.role)));
  }
  if (!wanted.empty()) {
    findings.push_back(warning(kName,
                               fmt::format("the role {} may not forget what is old", view.role),
                               grant_statements(wanted, view.role)));
  }
  if (findings.empty()) {
    findings.push_back(ok(kName, fmt::format("the role {} has all that it needs", view.role)));
  }
  return findings;
}

Finding judge_postgres_durability(const store::postgres::ServerView& view) {
  constexpr const char* kName = "postgres.durability";
  constexpr const char* kReload = " in postgresql.conf, then: SELECT pg_reload_conf()";
  const std::string found =
      fmt::format("fsync {}, full_page_writes {}, synchronous_commit {}", view.fsync ? "on" : "off",
                  view.full_page_writes ? "on" : "off", view.synchronous_commit);
  if (!view.fsync) return failed(kName, found, std::string("set fsync = on") + kReload);
  if (!view.full_page_writes) {
    return failed(kName, found, std::string("set full_page_writes = on") + kReload);
  }
  if (view.synchronous_commit == "off") {
    return failed(kName, found + ": a crash forgets what was acknowledged",
                  std::string("set synchronous_commit = on") + kReload);
  }
  return ok(kName, found);
}

Finding judge_connections(const store::postgres::ServerView& view, std::size_t needed) {
  constexpr const char* kName = "postgres.connections";
  const auto wanted = static_cast<std::int64_t>(needed);
  if (view.role_connections_max >= 0 && view.role_connections_max < wanted) {
    return failed(kName,
                  fmt::format("the role {} may have {} and a node opens up to {}", view.role,
                              view.role_connections_max, needed),
                  fmt::format("ALTER ROLE {} CONNECTION LIMIT -1;", view.role));
  }
  return judge_room(kName, view.connections_used, view.connections_max, wanted,
                    "store.postgres.connections");
}

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

using store::redis::NodeView;
using store::redis::RedisView;

constexpr int kMajorMin = 7;  // docs/redis.md
// Above this share of maxmemory a burst of new keys meets the end of it.
constexpr double kMemoryShareHigh = 0.9;

int major_of(std::string_view version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

Finding judge_redis_server(const NodeView& node) {
  const std::string found =
      fmt::format("Redis {} at {}, {}", node.version, node.address, node.role);
  if (major_of(node.version) < kMajorMin) {
    return failed("redis.server", found, "upgrade the server to Redis 7 or newer");
  }
  if (node.role != "master") {
    return failed("redis.server", found,
                  "name the primary in store.redis.url: replicas do not write");
  }
  return ok("redis.server", found);
}

Finding judge_mode(const RedisView& view, bool cluster) {
  constexpr const char* kName = "redis.mode";
  const std::string& mode = view.nodes.front().mode;
  const bool found = mode == "cluster";
  if (found != cluster) {
    return failed(kName,
                  fmt::format("the server is {}, store.redis.cluster is {}", mode,
                              cluster ? "true" : "false"),
                  fmt::format("set store.redis.cluster: {}", found ? "true" : "false"));
  }
  if (!cluster) return ok(kName, mode);
  if (view.slots_without_node > 0) {
    return failed(
        kName,
        fmt::format("{} of {} slots have no node", view.slots_without_node, store::redis::kSlots),
        fmt::format("redis-cli --cluster fix {}", view.nodes.front().address));
  }
  return ok(kName, fmt::format("cluster of {} masters, all slots served", view.nodes.size()));
}

Finding judge_scripts(const NodeView& node) {
  if (node.may_script) return ok("redis.scripts", "scripts may run");
  return failed("redis.scripts", fmt::format("{} does not let this user run scripts", node.address),
                "give the ACL user +@scripting, as docs/redis.md shows");
}

Finding judge_redis_memory(const NodeView& node) {
  constexpr const char* kName = "redis.memory";
  if (!node.memory) {
    return skipped(kName,
                   "this user may not ask for INFO; to have it checked: ACL SETUSER … +info");
  }
  const store::redis::MemoryView& memory = *node.memory;
  const std::string found = fmt::format(
      "maxmemory-policy {}, {} of {} bytes used at {}", memory.eviction, memory.bytes,
      memory.bytes_max == 0 ? "unlimited" : std::to_string(memory.bytes_max), node.address);
  if (memory.eviction != "noeviction") {
    return failed(kName, found + ": limits are forgotten silently when memory is short",
                  "CONFIG SET maxmemory-policy noeviction, and in redis.conf");
  }
  if (memory.bytes_max > 0 && static_cast<double>(memory.bytes) >
                                  kMemoryShareHigh * static_cast<double>(memory.bytes_max)) {
    return warning(kName, found, "raise maxmemory: a full Redis refuses, and checks fail");
  }
  return ok(kName, found);
}

Finding judge_persistence(const NodeView& node, bool throttle) {
  constexpr const char* kName = "redis.persistence";
  if (!node.memory) return skipped(kName, "this user may not ask for INFO");
  if (node.memory->appends) return ok(kName, "appendonly yes");
  if (!throttle) return ok(kName, "appendonly no; only the gateway's cache is there");
  return warning(
      kName, fmt::format("appendonly no at {}: a restart forgets usage and policies", node.address),
      "CONFIG SET appendonly yes, and in redis.conf");
}

bool is_bad(const Finding& finding) {
  return finding.status == Status::failed || finding.status == Status::warning;
}

}  // namespace

Finding judge_skew(std::string name, Instant server, Instant asked, Micros round_trip) {
  const Micros skew = server - asked;
  const Micros certain = std::max(Micros{0}, std::chrono::abs(skew) - round_trip / 2);
  return graded(std::move(name), certain >= kSkewWrong, certain >= kSkewNoticed,
                fmt::format("{:.3f} s {} this machine's clock",
                            static_cast<double>(std::chrono::abs(skew).count()) / 1e6,
                            skew >= Micros{0} ? "ahead of" : "behind"),
                "synchronise both machines by NTP: timedatectl set-ntp true");
}

PostgresUse postgres_use(const Config& config) noexcept {
  const auto there = [](StoreChoice choice) { return choice == StoreChoice::postgres; };
  PostgresUse use{.slots = there(config.slots.store),
                  .throttle = there(config.throttle.store),
                  .dispatch = there(config.dispatch.store)};
  // store/postgres/postgres_store.h: one listens, throttle has its own, and two are the cache's.
  use.connections = config.postgres.connections * (use.throttle ? 2 : 1) + 1 +
                    (config.gateway.cache == CacheChoice::redis ? 2 : 0);
  return use;
}

Findings judge_postgres(const store::postgres::ServerView& view, const PostgresUse& use,
                        std::int32_t known_schema) {
  Findings findings = {judge_postgres_server(view), judge_primary(view),
                       judge_postgres_schema(view, known_schema)};
  append(findings, judge_postgres_grants(view, use));
  findings.push_back(judge_postgres_durability(view));
  findings.push_back(judge_connections(view, use.connections));
  return findings;
}

Findings check_postgres(const Config& config, const runtime::Deadline& deadline) {
  if (config.postgres.url.empty()) {
    return {skipped("postgres", "store.postgres.url is not set")};
  }
  const auto unreachable = [](const store::DatabaseError& problem) -> Findings {
    return {failed("postgres.server", problem.error.what,
                   "start PostgreSQL, or correct store.postgres.url (host, database, role) and "
                   "store.postgres.password-file")};
  };
  auto connection = store::postgres::Connection::open(
      store::postgres::connect_options(postgres_options(config)), deadline);
  if (!connection) return unreachable(connection.error());
  // Twice: the first answer waits for plans and catalogues, which is no skew of clocks.
  if (auto first = store::postgres::inspect(**connection, deadline); !first) {
    return unreachable(first.error());
  }
  return timed(
      "postgres.clock", [&] { return store::postgres::inspect(**connection, deadline); },
      [&](const store::postgres::ServerView& view) {
        return judge_postgres(view, postgres_use(config), store::postgres::schema_version());
      },
      unreachable);
}

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
  const auto unreachable = [](const store::DatabaseError& problem) -> Findings {
    return {failed("mariadb.server", problem.error.what,
                   "start MariaDB, or correct store.mariadb.url (host, database, user) and "
                   "store.mariadb.password-file")};
  };
  auto connection = store::mariadb::Connection::open(
      store::mariadb::connect_options(mariadb_options(config)), deadline);
  if (!connection) return unreachable(connection.error());
  return timed(
      "mariadb.clock", [&] { return store::mariadb::inspect(**connection, deadline); },
      [&](const store::mariadb::ServerView& view) {
        // Decisions have their own connections, policies and upkeep as many again.
        return judge_mariadb(view, static_cast<std::int64_t>(2 * config.mariadb.connections),
                             store::mariadb::schema_version());
      },
      unreachable);
}

Findings judge_redis(const RedisView& view, const RedisUse& use) {
  Findings findings;
  if (view.nodes.empty()) {
    return {failed("redis.server", "no node was named", "correct store.redis.url")};
  }
  for (const NodeView& node : view.nodes) findings.push_back(judge_redis_server(node));
  findings.push_back(judge_mode(view, use.cluster));
  // Of a cluster's nodes the first that is not as it should be, for each check.
  const auto first_bad = [&](auto judge) {
    Finding chosen = judge(view.nodes.front());
    for (const NodeView& node : view.nodes) {
      if (is_bad(chosen)) break;
      if (Finding other = judge(node); is_bad(other)) chosen = std::move(other);
    }
    return chosen;
  };
  findings.push_back(first_bad(judge_scripts));
  findings.push_back(first_bad(judge_redis_memory));
  findings.push_back(
      first_bad([&](const NodeView& node) { return judge_persistence(node, use.throttle); }));
  findings.push_back(first_bad([](const NodeView& node) {
    return judge_skew("redis.clock", node.clock, node.asked, Micros{0});
  }));
  return findings;
}

Findings check_redis(const Config& config, const runtime::Deadline& deadline) {
  if (config.redis.url.empty()) return {skipped("redis", "store.redis.url is not set")};
  const runtime::SystemClock clock;
  const Result<RedisView> view = store::redis::inspect(redis_options(config), clock, deadline);
  if (!view) {
    return {
        failed("redis.server", view.error().what,
               "start Redis, or correct store.redis.url (host, user), store.redis.password-file "
               "and store.redis.cluster")};
  }
  return judge_redis(*view, {.cluster = config.redis.cluster,
                             .throttle = config.throttle.store == StoreChoice::redis});
}

}  // namespace penstock::daemon::doctor
