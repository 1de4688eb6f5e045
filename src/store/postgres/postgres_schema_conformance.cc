// The schema's life on a real server: migration, version check, every statement, a small role.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/policy/policy.h"
#include "engine/postgres/binary.h"
#include "engine/postgres/schema.h"
#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

// Everything that throttle does, once.
void throttle_with(const Backend& backend) {
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

// What becomes of slots after their assignment, each once.
void live_with(const Backend& backend) {
  auto requests = asks("life", 0, 3);
  requests[2].ttl = Millis{1};
  for (int round = 0; round < 2; ++round) {
    for (const auto& answer : backend.slots.store->assign(requests, kNoon - Seconds{60})) {
      EXPECT_TRUE(answer) << answer.error().what;
    }
    EXPECT_TRUE(backend.slots.life->confirm(requests[0].event, kNoon - Seconds{60}));
    EXPECT_TRUE(backend.slots.life->release(requests[1].event, kNoon - Seconds{60}));
    EXPECT_EQ(backend.slots.life->expire(10, kNoon - Seconds{30}), 1U);
  }
}

// Everything that dispatch does, once.
void dispatch_with(const Backend& backend) {
  const ItemType type = ItemType::trusted("T");
  const Instant now = from_epoch_millis(1'750'000'000'000);
  std::vector<NewItem> items;
  for (const char* id : {"a", "b", "c", "d"}) {
    items.push_back({.type = type, .id = ItemId::trusted(id), .due = now, .context = "{}"});
  }
  items.back().slot = SlotRequest{.event = core::item_event("T:d"),
                                  .config_name = ConfigName::trusted("default"),
                                  .requested = now,
                                  .max_delay = Seconds{60}};
  for (const auto& answer : backend.queue.store->enqueue(items, now)) {
    EXPECT_TRUE(answer) << answer.error().what;
  }
  const auto claim = backend.queue.store->claim({.type = type, .token = 1, .limit = 2}, now);
  ASSERT_TRUE(claim) << claim.error().what;
  const std::vector<Settlement> settlements = {
      {.id = items[0].id, .batch_id = claim->batch_id, .outcome = Outcome::refused, .detail = "x"},
      {.id = items[1].id, .batch_id = claim->batch_id, .outcome = Outcome::failed, .detail = "y"}};
  EXPECT_EQ(backend.queue.store->settle({.type = type, .token = 1, .items = settlements}, now),
            (std::vector<bool>{true, true}));
  EXPECT_TRUE(backend.queue.store->redrive(type, items[0].id, now));
  EXPECT_TRUE(backend.queue.store->cancel(type, items[2].id, now));
  EXPECT_TRUE(backend.queue.store->find(type, items[0].id));
  EXPECT_TRUE(backend.queue.store->summary(type));
  EXPECT_EQ(backend.queue.store->forget(type, now + Seconds{1}, 10), 1U);
  const auto lease = backend.queue.leases->acquire(
      {.type = type, .node = "n", .term = Seconds{5}, .paused_until = {}}, now);
  EXPECT_TRUE(lease && *lease);
  EXPECT_TRUE(backend.queue.leases->view(type, now));
  EXPECT_TRUE(backend.queue.leases->release(type, "n"));
  EXPECT_TRUE(backend.queue.types->put(type, 0, {}, now));
  EXPECT_TRUE(backend.queue.types->list());
  EXPECT_TRUE(backend.queue.types->revision());
}

TEST(Schema, migrate_makes_it_and_a_second_run_changes_nothing) {
  const std::string database = server().empty_database();
  const auto first = migrate({.url = server().url(database)});
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->from_version, 0);
  EXPECT_EQ(first->to_version, schema_version());
  EXPECT_EQ(first->applied.size(), 1 + embedded_migrations().size());
  const auto second = migrate({.url = server().url(database)});
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(second->from_version, schema_version());
  EXPECT_TRUE(second->applied.empty());
  EXPECT_NE(open_store({.url = server().url(database)}), nullptr);
}

TEST(Schema, migrations_run_by_several_programs_at_once_are_applied_once) {
  const std::string database = server().empty_database();
  std::vector<std::thread> programs;
  std::atomic<std::size_t> applied{0};
  for (int i = 0; i < 4; ++i) {
    programs.emplace_back([&] {
      const auto report = migrate({.url = server().url(database)});
      ASSERT_TRUE(report) << report.error().what;
      applied += report->applied.size();
    });
  }
  for (std::thread& program : programs) program.join();
  EXPECT_EQ(applied, 1 + embedded_migrations().size());
}

// The program of tomorrow: our schema and a migration on top.
const SqlFile kTomorrow[] = {{"9000_colour",
                              "-- Caller: penstock migrate. Locks: slot_pool, for a moment.\n"
                              "ALTER TABLE slot_pool ADD COLUMN colour text NOT NULL DEFAULT '';\n"
                              "CREATE TABLE slot_colour (colour text NOT NULL)"}};
Schema tomorrow() { return {.baseline = schema().baseline, .migrations = kTomorrow}; }

TEST(Schema, a_migration_upgrades_what_is_there_and_only_once) {
  const std::string database = server().fresh_database();
  const auto upgraded = migrate({.url = server().url(database)}, tomorrow());
  ASSERT_TRUE(upgraded) << upgraded.error().what;
  EXPECT_EQ(upgraded->from_version, schema_version());
  EXPECT_EQ(upgraded->to_version, 9000);
  EXPECT_EQ(upgraded->applied, std::vector<std::string>{"9000_colour"});
  server().query(database,
                 "INSERT INTO penstock.slot_colour SELECT colour FROM penstock.slot_pool");
  EXPECT_EQ(server().query(database, "SELECT name FROM penstock.schema_version WHERE version > 1"),
            "9000_colour");
  const auto again = migrate({.url = server().url(database)}, tomorrow());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->applied.empty());

  const auto at_once = migrate({.url = server().url(server().empty_database())}, tomorrow());
  ASSERT_TRUE(at_once) << at_once.error().what;
  EXPECT_EQ(at_once->from_version, 0);
  EXPECT_EQ(at_once->applied.back(), "9000_colour");
}

TEST(Schema, an_upgrade_by_several_programs_at_once_happens_once) {
  const std::string database = server().fresh_database();
  std::vector<std::thread> programs;
  std::atomic<std::size_t> applied{0};
  for (int i = 0; i < 4; ++i) {
    programs.emplace_back([&] {
      const auto report = migrate({.url = server().url(database)}, tomorrow());
      ASSERT_TRUE(report) << report.error().what;
      applied += report->applied.size();
    });
  }
  for (std::thread& program : programs) program.join();
  EXPECT_EQ(applied, 1U);
}

TEST(Schema, a_migration_that_fails_changes_nothing) {
  const std::string database = server().fresh_database();
  const SqlFile broken[] = {{"9000_broken", "CREATE TABLE half (a integer); SELECT 1 / 0"}};
  const auto report = migrate({.url = server().url(database)},
                              {.baseline = schema().baseline, .migrations = broken});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().what.find("migration 9000_broken: "), std::string::npos)
      << report.error().what;
  EXPECT_EQ(server().query(database, "SELECT to_regclass('penstock.half') IS NULL"), "t");
  EXPECT_NE(open_store({.url = server().url(database)}), nullptr);
}

TEST(Schema, a_missing_or_older_schema_is_refused_naming_the_command) {
  const std::string database = server().empty_database();
  const auto none = PostgresStore::open({.url = server().url(database)}, nullptr);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::conflict);
  EXPECT_NE(none.error().what.find("penstock migrate"), std::string::npos) << none.error().what;

  auto connection = Connection::open({.url = server().url(server().fresh_database())},
                                     runtime::Deadline(Seconds{60}));
  ASSERT_TRUE(connection);
  const auto version = current_version(**connection, runtime::Deadline(Seconds{60}));
  ASSERT_TRUE(version);
  const auto behind = check_schema_version(*version, tomorrow().version());
  ASSERT_FALSE(behind);
  EXPECT_NE(behind.error().what.find("penstock migrate"), std::string::npos);
}

TEST(Schema, a_newer_schema_is_refused_by_the_daemon_and_by_migrate) {
  const std::string database = server().fresh_database();
  ASSERT_TRUE(migrate({.url = server().url(database)}, tomorrow()));
  const auto store = PostgresStore::open({.url = server().url(database)}, nullptr);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::conflict);
  EXPECT_NE(store.error().what.find("newer"), std::string::npos) << store.error().what;
  EXPECT_FALSE(migrate({.url = server().url(database)}));
}

TEST(Schema, slots_of_items_have_ids_of_their_own) {
  const std::string database = server().fresh_database();
  const auto store = open_store({.url = server().url(database)});
  ASSERT_NE(store, nullptr);
  put(*store, 3);
  auto events = asks("e", 0, 1);
  events[0].event = EventId::trusted("T:a");  // public, and of the name of an item
  ASSERT_TRUE(store->backend().slots.store->assign(events, kNoon - Seconds{1}).at(0));
  NewItem item{.type = ItemType::trusted("T"), .id = ItemId::trusted("a"), .due = kNoon};
  item.slot = asks("e", 0, 1)[0];
  item.slot->event = core::item_event("T:a");
  ASSERT_TRUE(store->backend().queue.store->enqueue({&item, 1}, kNoon).at(0));
  const auto all = store->backend().slots.store->scan(EventId{}, 10);
  ASSERT_TRUE(all);
  std::vector<std::string> ids;
  for (const Slot& slot : *all) ids.push_back(slot.event.str());
  EXPECT_EQ(ids, (std::vector<std::string>{" T:a", "T:a"}));
  EXPECT_EQ(server().query(database,
                           "SELECT event_id FROM penstock.event_slot_readable"
                           " WHERE owner = 'dispatch'"),
            "T:a");
}

TEST(Schema, every_statement_can_be_prepared) {
  const std::string database = server().fresh_database();
  auto connection =
      Connection::open({.url = server().url(database)}, runtime::Deadline(Seconds{60}));
  ASSERT_TRUE(connection);
  for (const SqlFile& file : embedded_statements()) {
    // CALL, BEGIN and its kind are not for PREPARE; the protocol's Parse takes them, as the store
    // does.
    const std::string_view name = file.name;
    if (name == "assign_slots" || name == "begin" || name == "commit" || name == "rollback") {
      continue;
    }
    const auto made = (*connection)
                          ->script("PREPARE test_" + std::string(name) + " AS " + file.text,
                                   runtime::Deadline(Seconds{60}));
    EXPECT_TRUE(made) << name << ": " << made.error().error.what;
  }
}

TEST(Schema, a_role_with_the_documented_rights_can_do_all_the_work) {
  const std::string database = server().fresh_database();
  // The block of docs/postgres.md.
  server().query(database,
                 "CREATE ROLE penstock_app LOGIN;"
                 "GRANT USAGE ON SCHEMA penstock TO penstock_app;"
                 "GRANT SELECT ON ALL TABLES IN SCHEMA penstock TO penstock_app;"
                 "GRANT INSERT ON penstock.slot_pool, penstock.slot_config TO penstock_app;"
                 "GRANT UPDATE (active) ON penstock.slot_config TO penstock_app;"
                 "GRANT UPDATE (returned) ON penstock.slot_pool TO penstock_app;"
                 "GRANT UPDATE ON penstock.slot_reservation_floor TO penstock_app;"
                 "GRANT INSERT, UPDATE, DELETE ON penstock.slot_window, penstock.event_slot,"
                 "  penstock.slot_reservation TO penstock_app;"
                 "GRANT INSERT, UPDATE, DELETE ON penstock.throttle_usage, penstock.node_alive"
                 "  TO penstock_app;"
                 "GRANT INSERT ON penstock.throttle_policy TO penstock_app;"
                 "GRANT UPDATE (newest) ON penstock.throttle_policy TO penstock_app;"
                 "GRANT UPDATE (revision) ON penstock.throttle_policy_revision TO penstock_app;"
                 "GRANT USAGE ON SEQUENCE penstock.dispatch_batch, penstock.dispatch_item_no"
                 "  TO penstock_app;"
                 "GRANT INSERT ON penstock.dispatch_type, penstock.dispatch_settings"
                 "  TO penstock_app;"
                 "GRANT INSERT, DELETE ON penstock.dispatch_audit, penstock.dispatch_change"
                 "  TO penstock_app;"
                 "GRANT INSERT, UPDATE ON penstock.dispatch_lease, penstock.dispatch_total"
                 "  TO penstock_app;"
                 "GRANT INSERT, UPDATE, DELETE ON penstock.dispatch_item, penstock.dispatch_queue,"
                 "  penstock.dispatch_settled, penstock.dispatch_dead TO penstock_app;"
                 "GRANT UPDATE (revision) ON penstock.dispatch_settings_revision TO penstock_app;"
                 "GRANT UPDATE ON penstock.retention_progress TO penstock_app;");
  // A role that may only work cannot change the schema; what it may do outlives an upgrade.
  const std::string as_app =
      "postgresql://penstock_app@127.0.0.1:" + std::to_string(server().port()) + "/" + database;
  EXPECT_FALSE(migrate({.url = as_app}, tomorrow()));
  ASSERT_TRUE(migrate({.url = server().url(database)}, tomorrow()));
  server().query(database, "DELETE FROM penstock.schema_version WHERE version = 9000");
  {
    const auto store =
        open_store({.url = as_app, .deadline = Seconds{20}, .limits_deadline = Seconds{20}});
    ASSERT_NE(store, nullptr);
    throttle_with(store->backend());
    put(*store, 3);
    put(*store, 4);
    dispatch_with(store->backend());
    live_with(store->backend());
    const auto requests = asks("e", 0, 10, "default", from_epoch_millis(1'000'000));
    for (const auto& answer : store->backend().slots.store->assign(requests, std::nullopt)) {
      EXPECT_TRUE(answer) << answer.error().what;
    }
    // What a failed batch left is given back, too.
    server().query(
        database,
        "WITH w AS (UPDATE penstock.slot_window SET used = used + 1"
        "            WHERE window_start_ms = 1000000 RETURNING *)"
        "INSERT INTO penstock.slot_reservation"
        "  SELECT pg_current_xact_id(), pool_id, ARRAY[1], ARRAY[window_start_ms] FROM w");
    expect_settled(database);
    EXPECT_TRUE(store->backend().slots.changes->flush_everywhere());
    EXPECT_TRUE(store->backend().retention_clock->older_than(Seconds{60}));
    const auto pruned =
        store->backend().slots.retention->prune({.before = from_epoch_millis(2'000'000)}, {}, {});
    ASSERT_TRUE(pruned) << pruned.error().what;
    EXPECT_EQ(pruned->slots, 10U);
  }
  server().drop(database);
  server().query("postgres", "DROP ROLE penstock_app");
}

}  // namespace
}  // namespace penstock::store::postgres
