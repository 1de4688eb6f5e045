// The judgements about PostgreSQL, MariaDB and Redis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/doctor/checks.h"
#include "daemon/doctor/test_findings.h"

namespace penstock::daemon::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int32_t kSchema = 9;

store::postgres::ServerView good_postgres() {
  return {.version = 150'018,
          .role = "penstock_app",
          .synchronous_commit = "on",
          .connections_max = 97,
          .connections_used = 3,
          .schema = kSchema};
}
constexpr PostgresUse kAll{.slots = true, .throttle = true, .dispatch = true, .connections = 9};

Finding postgres(const store::postgres::ServerView& view, std::string_view name,
                 const PostgresUse& use = kAll) {
  return finding_of(judge_postgres(view, use, kSchema), name);
}

TEST(DoctorPostgres, a_good_server_has_nothing_to_fix) {
  EXPECT_TRUE(all_good(judge_postgres(good_postgres(), kAll, kSchema)));
}

TEST(DoctorPostgres, an_old_server_a_standby_and_unsafe_settings_fail) {
  auto view = good_postgres();
  view.version = 140'005;
  EXPECT_EQ(postgres(view, "postgres.server").status, Status::failed);
  view.read_only = true;
  EXPECT_THAT(postgres(view, "postgres.writable").fix, HasSubstr("target_session_attrs"));
  view.fsync = false;
  EXPECT_THAT(postgres(view, "postgres.durability").fix, HasSubstr("fsync = on"));
  view.fsync = true;
  view.full_page_writes = false;
  EXPECT_THAT(postgres(view, "postgres.durability").fix, HasSubstr("full_page_writes = on"));
  view.full_page_writes = true;
  view.synchronous_commit = "off";
  EXPECT_THAT(postgres(view, "postgres.durability").fix, HasSubstr("synchronous_commit = on"));
}

TEST(DoctorPostgres, a_schema_that_is_missing_or_behind_names_migrate) {
  auto view = good_postgres();
  for (const std::int32_t behind : {0, kSchema - 1}) {
    view.schema = behind;
    EXPECT_EQ(postgres(view, "postgres.schema").status, Status::failed);
    EXPECT_THAT(postgres(view, "postgres.schema").fix, HasSubstr("penstock migrate"));
  }
  view.schema = kSchema + 1;
  EXPECT_THAT(postgres(view, "postgres.schema").fix, Not(HasSubstr("migrate")));
  view.schema_known = false;
  EXPECT_EQ(postgres(view, "postgres.schema").status, Status::skipped);
}

TEST(DoctorPostgres, missing_grants_become_statements) {
  auto view = good_postgres();
  view.missing = {{"USAGE", "", false},
                  {"INSERT", "slot_pool", false},
                  {"UPDATE (returned)", "slot_pool", false},
                  {"USAGE", "payment_no", true}};
  const Finding finding = postgres(view, "postgres.grants");
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_THAT(finding.fix, HasSubstr("GRANT USAGE ON SCHEMA penstock TO penstock_app;"));
  EXPECT_THAT(finding.fix,
              HasSubstr("GRANT INSERT, UPDATE (returned) ON penstock.slot_pool TO penstock_app;"));
  EXPECT_THAT(finding.fix, HasSubstr("GRANT USAGE ON SEQUENCE penstock.payment_no TO"));
}

TEST(DoctorPostgres, grants_of_what_is_kept_elsewhere_are_not_missed) {
  auto view = good_postgres();
  view.missing = {{"INSERT", "throttle_usage", false}, {"SELECT", "node_alive", false}};
  EXPECT_EQ(postgres(view, "postgres.grants", {.slots = true, .dispatch = true}).status,
            Status::ok);
  EXPECT_EQ(postgres(view, "postgres.grants", {.throttle = true}).status, Status::failed);
}

TEST(DoctorPostgres, a_role_that_may_not_forget_is_a_warning) {
  auto view = good_postgres();
  view.missing = {{"DELETE", "dispatch_audit", false}, {"DELETE", "event_slot", false}};
  EXPECT_EQ(postgres(view, "postgres.grants").status, Status::warning);
  view.missing.push_back({"DELETE", "dispatch_queue", false});
  EXPECT_EQ(postgres(view, "postgres.grants").status, Status::failed);
}

TEST(DoctorPostgres, connections_are_counted_against_what_a_node_opens) {
  auto view = good_postgres();
  view.connections_used = 92;
  EXPECT_EQ(postgres(view, "postgres.connections").status, Status::warning);
  view.connections_max = 8;
  EXPECT_EQ(postgres(view, "postgres.connections").status, Status::failed);
  view = good_postgres();
  view.role_connections_max = 5;
  EXPECT_THAT(postgres(view, "postgres.connections").fix, HasSubstr("ALTER ROLE penstock_app"));
}

TEST(DoctorPostgres, a_node_opens_more_for_throttle_and_for_the_cache) {
  Config config;
  config.postgres.connections = 4;
  config.slots.store = StoreChoice::postgres;
  EXPECT_EQ(postgres_use(config).connections, 5U);
  config.throttle.store = StoreChoice::postgres;
  config.gateway.cache = CacheChoice::redis;
  EXPECT_EQ(postgres_use(config).connections, 11U);
}

store::mariadb::ServerView good_mariadb() {
  return {.version = "10.11.6-MariaDB-0+deb12u1",
          .account = "penstock_app@%",
          .database = "penstock",
          .connections_max = 151,
          .connections_used = 2,
          .schema = kSchema};
}
Finding mariadb(const store::mariadb::ServerView& view, std::string_view name) {
  return finding_of(judge_mariadb(view, 8, kSchema), name);
}

TEST(DoctorMariadb, a_good_server_has_nothing_to_fix) {
  EXPECT_TRUE(all_good(judge_mariadb(good_mariadb(), 8, kSchema)));
  auto mysql = good_mariadb();
  mysql.version = "8.0.36";
  EXPECT_EQ(mariadb(mysql, "mariadb.server").status, Status::ok);
}

TEST(DoctorMariadb, tells_old_versions_of_both_kinds) {
  auto view = good_mariadb();
  for (const char* old : {"10.5.23-MariaDB", "5.7.44", "5.5.68-MariaDB", ""}) {
    view.version = old;
    EXPECT_EQ(mariadb(view, "mariadb.server").status, Status::failed) << old;
  }
  view.version = "11.4.2-MariaDB";
  EXPECT_EQ(mariadb(view, "mariadb.server").status, Status::ok);
}

TEST(DoctorMariadb, settings_schema_grants_and_connections) {
  auto view = good_mariadb();
  view.flush_log_at_commit = 2;
  EXPECT_EQ(mariadb(view, "mariadb.durability").status, Status::warning);
  view.read_only = true;
  EXPECT_EQ(mariadb(view, "mariadb.writable").status, Status::failed);
  view.schema = 0;
  EXPECT_THAT(mariadb(view, "mariadb.schema").fix, HasSubstr("penstock migrate"));
  EXPECT_EQ(mariadb(view, "mariadb.grants").status, Status::skipped);
  view.refused = {"DELETE command denied to user"};
  EXPECT_THAT(
      mariadb(view, "mariadb.grants").fix,
      HasSubstr("GRANT SELECT, INSERT, UPDATE, DELETE ON penstock.* TO 'penstock_app'@'%';"));
  view.connections_max = 7;
  EXPECT_EQ(mariadb(view, "mariadb.connections").status, Status::failed);
}

store::redis::RedisView good_redis() {
  return {
      .nodes = {{.address = "r1:6379",
                 .version = "7.0.15",
                 .mode = "standalone",
                 .role = "master",
                 .clock = kNow,
                 .asked = kNow,
                 .memory = store::redis::MemoryView{
                     .eviction = "noeviction", .bytes = 1'000, .bytes_max = 0, .appends = true}}}};
}
Finding redis(const store::redis::RedisView& view, std::string_view name, RedisUse use = {}) {
  return finding_of(judge_redis(view, use), name);
}

TEST(DoctorRedis, a_good_server_has_nothing_to_fix) {
  EXPECT_TRUE(all_good(judge_redis(good_redis(), {.throttle = true})));
}

TEST(DoctorRedis, an_old_server_a_replica_and_the_wrong_mode_fail) {
  auto view = good_redis();
  view.nodes[0].version = "6.2.14";
  EXPECT_EQ(redis(view, "redis.server").status, Status::failed);
  view.nodes[0].version = "7.2.0";
  view.nodes[0].role = "replica";
  EXPECT_EQ(redis(view, "redis.server").status, Status::failed);
  EXPECT_THAT(redis(view, "redis.mode", {.cluster = true}).fix, HasSubstr("cluster: false"));
  view.nodes[0].mode = "cluster";
  EXPECT_THAT(redis(view, "redis.mode").fix, HasSubstr("cluster: true"));
  view.slots_without_node = 5;
  EXPECT_THAT(redis(view, "redis.mode", {.cluster = true}).fix, HasSubstr("--cluster fix r1:6379"));
}

TEST(DoctorRedis, eviction_on_any_node_fails_and_names_it) {
  auto view = good_redis();
  view.nodes.push_back(view.nodes[0]);
  view.nodes[1].address = "r2:6379";
  view.nodes[1].memory->eviction = "allkeys-lru";
  const Finding finding = redis(view, "redis.memory");
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_THAT(finding.found, HasSubstr("r2:6379"));
}

TEST(DoctorRedis, a_full_server_and_one_without_a_file_are_warnings) {
  auto view = good_redis();
  view.nodes[0].memory->bytes_max = 1'050;
  EXPECT_EQ(redis(view, "redis.memory").status, Status::warning);
  view.nodes[0].memory->appends = false;
  EXPECT_EQ(redis(view, "redis.persistence", {.throttle = true}).status, Status::warning);
  EXPECT_EQ(redis(view, "redis.persistence").status, Status::ok);
}

TEST(DoctorRedis, what_the_user_may_not_ask_is_skipped) {
  auto view = good_redis();
  view.nodes[0].memory.reset();
  EXPECT_EQ(redis(view, "redis.memory").status, Status::skipped);
  view.nodes[0].may_script = false;
  EXPECT_THAT(redis(view, "redis.scripts").fix, HasSubstr("+@scripting"));
}

TEST(DoctorRedis, reads_what_info_says) {
  const auto view = store::redis::parse_info(
      "# Memory\r\nused_memory:4096\r\nmaxmemory:8192\r\nmaxmemory_policy:volatile-ttl\r\n\r\n"
      "aof_enabled:1\r\nbroken line\r\nused_memory_human:4K\r\n");
  EXPECT_EQ(view.eviction, "volatile-ttl");
  EXPECT_EQ(view.bytes, 4'096U);
  EXPECT_EQ(view.bytes_max, 8'192U);
  EXPECT_TRUE(view.appends);
  EXPECT_EQ(store::redis::parse_info("").eviction, "");
}

TEST(DoctorClockSkew, counts_beyond_half_a_round_trip) {
  const auto status = [](Millis skew, Millis round_trip) {
    return judge_skew("x", kNow + skew, kNow, round_trip).status;
  };
  EXPECT_EQ(status(Millis{100}, Millis{0}), Status::ok);
  EXPECT_EQ(status(Millis{-800}, Millis{0}), Status::warning);
  EXPECT_EQ(status(Millis{800}, Millis{1'000}), Status::ok);
  EXPECT_EQ(status(Seconds{-61}, Millis{0}), Status::failed);
  EXPECT_THAT(judge_skew("x", kNow - Seconds{2}, kNow, Micros{0}).found,
              HasSubstr("2.000 s behind"));
}

}  // namespace
}  // namespace penstock::daemon::doctor
