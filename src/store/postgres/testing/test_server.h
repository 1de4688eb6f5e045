// A real PostgreSQL for the tests of this room: one server per test program, a fresh database per
// use. For tests only.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "engine/postgres/schema.h"
#include "engine/postgres/testing/server_process.h"
#include "store/postgres/postgres_store.h"

namespace penstock::store::postgres {

class TestServer {
 public:
  // The program's one server. `problem()` says why there is none.
  static TestServer& shared() {
    static TestServer server;
    return server;
  }

  const std::string& problem() const { return process_.problem(); }
  bool available() const { return problem().empty(); }
  int port() const { return process_.port(); }
  std::string url(const std::string& database) const { return process_.url(database); }

  void kill() { process_.kill_server(); }
  void start() { process_.start_server(); }

  // A new database with our schema, copied from one that was migrated once.
  std::string fresh_database() {
    static const bool migrated = [this] {
      query("postgres", "CREATE DATABASE template_penstock");
      const auto report = migrate({.url = url("template_penstock")});
      EXPECT_TRUE(report) << report.error().what;
      return report.has_value();
    }();
    EXPECT_TRUE(migrated);
    return make_database(" TEMPLATE template_penstock");
  }
  std::string empty_database() { return make_database(""); }
  void drop(const std::string& database) {
    query("postgres", "DROP DATABASE " + database + " WITH (FORCE)");
  }

  // First column of the first row, or an empty string; failures are the test's.
  std::string query(const std::string& database, const std::string& sql) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> conn(PQconnectdb(url(database).c_str()),
                                                          PQfinish);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(conn.get(), sql.c_str()),
                                                                PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
        << PQerrorMessage(conn.get());
    if (status != PGRES_TUPLES_OK || PQntuples(result.get()) == 0) return {};
    return PQgetvalue(result.get(), 0, 0);
  }
  long long number(const std::string& database, const std::string& sql) {
    return std::atoll(query(database, sql).c_str());
  }

 private:
  // Tests end processes, not machines: what the server handed to the kernel is safe.
  TestServer() : process_(/*fsync=*/false) {}

  std::string make_database(const std::string& options) {
    static std::atomic<int> number{0};
    const std::string name = "test_" + std::to_string(++number);
    // Files are copied as they are: three times as fast as by the log, where nothing is synced.
    query("postgres", "CREATE DATABASE " + name + options + " STRATEGY FILE_COPY");
    return name;
  }

  ServerProcess process_;
};

inline TestServer& server() { return TestServer::shared(); }

// Skips the whole program, with the reason, where no server can be had. Add it once per program.
class NeedsPostgres final : public testing::Environment {
 public:
  void SetUp() override {
    if (!TestServer::shared().available()) GTEST_SKIP() << TestServer::shared().problem();
  }
};

// A store; a failure to open it is the test's.
inline std::unique_ptr<PostgresStore> open_store(const PostgresOptions& options) {
  auto store = PostgresStore::open(options, nullptr);
  EXPECT_TRUE(store) << store.error().what;
  return store ? std::move(*store) : nullptr;
}

}  // namespace penstock::store::postgres
