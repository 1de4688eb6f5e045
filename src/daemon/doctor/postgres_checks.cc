#include "daemon/doctor/postgres_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "daemon/doctor/server_judgements.h"
#include "daemon/stores.h"
#include "runtime/system_clock.h"

namespace penstock::daemon::doctor {
namespace {

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

}  // namespace

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
  std::ranges::move(judge_postgres_grants(view, use), std::back_inserter(findings));
  findings.push_back(judge_postgres_durability(view));
  findings.push_back(judge_connections(view, use.connections));
  return findings;
}

Findings check_postgres(const Config& config, const runtime::Deadline& deadline) {
  if (config.postgres.url.empty()) {
    return {skipped("postgres", "store.postgres.url is not set")};
  }
  const auto unreachable = [](const store::postgres::DatabaseError& problem) -> Findings {
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
  const runtime::SystemClock clock;
  const Instant before = clock.now();
  const auto view = store::postgres::inspect(**connection, deadline);
  const Instant after = clock.now();
  if (!view) return unreachable(view.error());
  Findings findings =
      judge_postgres(*view, postgres_use(config), store::postgres::schema_version());
  findings.push_back(
      judge_skew("postgres.clock", view->clock, before + (after - before) / 2, after - before));
  return findings;
}

}  // namespace penstock::daemon::doctor
