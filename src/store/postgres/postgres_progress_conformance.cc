// Retention by more than the clock, on a real PostgreSQL whose clock is made to jump.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/iso8601.h"
#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

using std::chrono::days;

class ProgressRowTest : public testing::Test {
 protected:
  ProgressRowTest()
      : database_(server().fresh_database()),
        store_(open_store({.url = server().url(database_), .deadline = Seconds{30}})) {}
  ~ProgressRowTest() override {
    store_.reset();
    server().drop(database_);
  }
  static TestServer& server() { return TestServer::shared(); }

  // What the database's clock says from now on.
  void set_clock(Instant now) {
    server().query(database_,
                   "CREATE OR REPLACE FUNCTION penstock.epoch_us() RETURNS bigint"
                   " LANGUAGE sql VOLATILE AS 'SELECT " +
                       micros(now) + "::bigint'");
  }
  // Ten days of regular life.
  void set_marks() {
    const std::string ten_days = std::to_string(Micros{days{10}}.count());
    server().query(database_, "UPDATE penstock.retention_progress SET walls_us = ARRAY[" +
                                  micros(kNoon - days{10}) + "," + micros(kNoon) +
                                  "], progress_us = ARRAY[0," + ten_days + "]");
  }
  static std::string micros(Instant at) { return std::to_string(at.time_since_epoch().count()); }
  Instant old(Millis keep) {
    const Result<Instant> before = store_->backend().retention_clock->older_than(keep);
    EXPECT_TRUE(before) << before.error().what;
    return before.value_or(kInstantMin);
  }

  const std::string database_;
  std::unique_ptr<PostgresStore> store_;
};

TEST_F(ProgressRowTest, nothing_is_old_at_first) {
  EXPECT_EQ(old(Seconds{60}), kInstantMin);
  set_clock(kNoon + days{9'000});
  EXPECT_EQ(old(Seconds{60}), kInstantMin);
}

TEST_F(ProgressRowTest, a_jump_of_the_databases_clock_makes_nothing_old) {
  set_clock(kNoon);
  set_marks();
  EXPECT_EQ(old(days{5}), kNoon - days{10});
  EXPECT_EQ(old(days{11}), kInstantMin);
  set_clock(kNoon + days{100});
  EXPECT_EQ(old(days{5}), kNoon - days{10});
  EXPECT_EQ(old(days{90}), kInstantMin);
  set_clock(kNoon + Seconds{1});
  EXPECT_EQ(old(days{5}), kNoon - days{10});
  EXPECT_EQ(
      server().number(database_, "SELECT (max(w) <= " + micros(kNoon + Seconds{1}) + ")::int" +
                                     " FROM penstock.retention_progress,"
                                     " unnest(walls_us) AS w"),
      1)
      << "a mark of the time that was ahead is left";
}

TEST_F(ProgressRowTest, nodes_share_what_they_measure) {
  set_clock(kNoon);
  set_marks();
  const auto other = open_store({.url = server().url(database_), .deadline = Seconds{30}});
  ASSERT_NE(other, nullptr);
  set_clock(kNoon + Seconds{1});
  EXPECT_EQ(old(days{10}), kNoon - days{10});
  EXPECT_EQ(other->backend().retention_clock->older_than(days{10}), kNoon - days{10});
}

}  // namespace
}  // namespace penstock::store::postgres
