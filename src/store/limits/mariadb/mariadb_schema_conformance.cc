// The schema's life on a real server: migration, version check, every statement, a small account,
// a server that is away at the start.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/policy/policy.h"
#include "engine/mariadb/query.h"
#include "engine/testing/tcp_proxy.h"
#include "runtime/clocks.h"
#include "store/limits/mariadb/testing/test_server.h"

namespace penstock::store::mariadb {
namespace {

TestServer& server() { return TestServer::shared(); }

Result<MigrationReport> migrate_at(const std::string& database, const Schema& to = schema()) {
  return migrate(connect_options({.url = server().url(database)}), to);
}

// The program of tomorrow: our schema and a migration on top.
const SqlFile kTomorrow[] = {{"9000_colour",
                              "-- Caller: penstock migrate. Locks: node_alive, for a moment.\n"
                              "ALTER TABLE node_alive ADD COLUMN colour INT NOT NULL DEFAULT 0;\n"
                              "CREATE TABLE IF NOT EXISTS colour (colour INT NOT NULL);\n"}};
Schema tomorrow() { return {.baseline = schema().baseline, .migrations = kTomorrow}; }

TEST(MariadbSchema, migrate_makes_it_and_a_second_run_changes_nothing) {
  const std::string database = server().empty_database();
  const auto first = migrate_at(database);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->from_version, 0);
  EXPECT_EQ(first->to_version, schema_version());
  EXPECT_EQ(first->applied.size(), 1 + embedded_migrations().size());
  const auto second = migrate_at(database);
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(second->from_version, schema_version());
  EXPECT_TRUE(second->applied.empty());
  EXPECT_NE(open_store({.url = server().url(database)}), nullptr);
}

TEST(MariadbSchema, a_migration_upgrades_what_is_there_and_only_once) {
  const std::string database = server().fresh_database();
  const auto upgraded = migrate_at(database, tomorrow());
  ASSERT_TRUE(upgraded) << upgraded.error().what;
  EXPECT_EQ(upgraded->from_version, schema_version());
  EXPECT_EQ(upgraded->to_version, 9000);
  EXPECT_EQ(upgraded->applied, std::vector<std::string>{"9000_colour"});
  server().query(database, "INSERT INTO colour SELECT colour FROM node_alive");
  const auto again = migrate_at(database, tomorrow());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->applied.empty());
  const auto at_once = migrate_at(server().empty_database(), tomorrow());
  ASSERT_TRUE(at_once) << at_once.error().what;
  EXPECT_EQ(at_once->applied.back(), "9000_colour");
}

TEST(MariadbSchema, an_upgrade_by_several_programs_at_once_happens_once) {
  const std::string database = server().fresh_database();
  std::vector<std::thread> programs;
  std::atomic<std::size_t> applied{0};
  for (int i = 0; i < 4; ++i) {
    programs.emplace_back([&] {
      const auto report = migrate_at(database, tomorrow());
      ASSERT_TRUE(report) << report.error().what;
      applied += report->applied.size();
    });
  }
  for (std::thread& program : programs) program.join();
  EXPECT_EQ(applied, 1U);
}

TEST(MariadbSchema, a_migration_that_broke_off_can_be_run_again) {
  const std::string database = server().fresh_database();
  server().query(database, "DELETE FROM penstock_schema_version");
  const auto again = migrate_at(database);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->to_version, schema_version());
}

TEST(MariadbSchema, migrations_run_by_several_programs_at_once_are_applied_once) {
  const std::string database = server().empty_database();
  std::vector<std::thread> programs;
  std::atomic<std::size_t> applied{0};
  for (int i = 0; i < 4; ++i) {
    programs.emplace_back([&] {
      const auto report = migrate_at(database);
      ASSERT_TRUE(report) << report.error().what;
      applied += report->applied.size();
    });
  }
  for (std::thread& program : programs) program.join();
  EXPECT_EQ(applied, 1 + embedded_migrations().size());
}

TEST(MariadbSchema, a_missing_or_newer_schema_is_refused_saying_what_to_run) {
  const std::string database = server().empty_database();
  const auto none = MariadbStore::open({.url = server().url(database)}, nullptr);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::conflict);
  EXPECT_NE(none.error().what.find("penstock migrate"), std::string::npos) << none.error().what;

  const std::string newer = server().fresh_database();
  ASSERT_TRUE(migrate_at(newer, tomorrow()));
  const auto ahead = MariadbStore::open({.url = server().url(newer)}, nullptr);
  ASSERT_FALSE(ahead);
  EXPECT_NE(ahead.error().what.find("newer"), std::string::npos) << ahead.error().what;
  EXPECT_FALSE(migrate_at(newer));
}

TEST(MariadbSchema, a_server_that_is_away_is_waited_for) {
  const std::string database = server().fresh_database();
  TcpProxy proxy(server().port());
  proxy.set(TcpProxy::Mode::refuse);
  const auto store = open_store({.url = TestServer::url_to(proxy.port(), database)});
  ASSERT_NE(store, nullptr);
  EXPECT_FALSE(store->backend().health->check());
  proxy.set(TcpProxy::Mode::pass);
  const runtime::Stopwatch watch;
  while (!store->backend().health->check()) ASSERT_LT(watch.seconds(), 30);
}

TEST(MariadbSchema, every_statement_can_be_prepared) {
  const auto connection = server().connect(server().fresh_database());
  ASSERT_NE(connection, nullptr);
  for (const SqlFile& file : embedded_statements()) {
    const std::string text = file.text;
    std::string quoted;
    for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    const auto made = connection->run("PREPARE test_statement FROM '" + quoted + "'",
                                      runtime::Deadline(Seconds{60}));
    EXPECT_TRUE(made) << file.name << ": " << made.error().error.what;
  }
}

// The block of docs/mariadb.md.
TEST(MariadbSchema, an_account_with_the_documented_rights_can_do_all_the_work) {
  const std::string database = server().fresh_database();
  server().query(database, "CREATE USER 'penstock_app'@'%' IDENTIFIED BY 'hush'");
  server().query(
      database, "GRANT SELECT, INSERT, UPDATE, DELETE ON " + database + ".* TO 'penstock_app'@'%'");
  // An account that may only work cannot change the tables; what it may do outlives an upgrade.
  const std::string as_app =
      "mysql://penstock_app@127.0.0.1:" + std::to_string(server().port()) + "/" + database;
  EXPECT_FALSE(migrate(connect_options({.url = as_app, .password = "hush"}), tomorrow()));
  ASSERT_TRUE(migrate_at(database, tomorrow()));
  server().query(database, "DELETE FROM penstock_schema_version WHERE version = 9000");
  {
    const auto store = open_store({.url = as_app,
                                   .password = "hush",
                                   .deadline = Seconds{20},
                                   .upkeep_deadline = Seconds{20}});
    ASSERT_NE(store, nullptr);
    const Backend backend = store->backend();
    EXPECT_TRUE(backend.limits.policies->create(core::default_policy_draft(), std::nullopt));
    EXPECT_TRUE(backend.limits.policies->remove("default", std::nullopt));
    const LimitCheck check{.key = "k", .limit = core::default_policy_draft().limit};
    core::LimitStatus status;
    const LimitRequest request{.checks = {&check, 1}, .cost = 1, .statuses = {&status, 1}};
    std::vector<Result<LimitAnswer>> answers(1, fail(ErrorKind::corrupt, "no answer"));
    backend.limits.store->apply({&request, 1}, std::nullopt, answers);
    EXPECT_TRUE(answers[0]) << answers[0].error().what;
    EXPECT_EQ(backend.limits.store->reset("k"), true);
    EXPECT_TRUE(backend.limits.sweep->sweep(10, std::nullopt));
    EXPECT_EQ(backend.limits.nodes->beat("n", Seconds{10}), 1U);
    EXPECT_TRUE(backend.limits.nodes->leave("n"));
  }
  server().query(database, "DROP USER 'penstock_app'@'%'");
}

}  // namespace
}  // namespace penstock::store::mariadb
