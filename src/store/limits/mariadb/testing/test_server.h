// A real MariaDB for the tests of this room: one server per test program, a fresh database per use.
// For tests and benchmarks.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "engine/testing/server_process.h"
#include "store/limits/mariadb/mariadb_store.h"

namespace penstock::store::mariadb {

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
  std::string url(const std::string& database) const { return url_to(port(), database); }
  static std::string url_to(int port, const std::string& database) {
    return "mysql://penstock:penstock@127.0.0.1:" + std::to_string(port) + "/" + database;
  }

  void kill() { process_.kill_server(); }
  void start() { process_.start_server(); }

  // A new database, with our tables or without.
  std::string fresh_database() {
    const std::string name = empty_database();
    const auto report = migrate(connect_options({.url = url(name)}));
    EXPECT_TRUE(report) << report.error().what;
    return name;
  }
  std::string empty_database() {
    static std::atomic<int> number{0};
    const std::string name = "test_" + std::to_string(++number);
    query("mysql", "CREATE DATABASE " + name);
    return name;
  }
  void drop(const std::string& database) { query("mysql", "DROP DATABASE " + database); }

  // First column of the first row, or an empty string; failures are the test's.
  std::string query(const std::string& database, const std::string& sql) {
    auto connection = connect(database);
    if (!connection) return {};
    const auto rows = connection->run(sql, runtime::Deadline(Seconds{60}));
    EXPECT_TRUE(rows) << sql << ": " << rows.error().error.what;
    return rows && rows->size() > 0 ? std::string(rows->text(0, 0)) : std::string();
  }
  long long number(const std::string& database, const std::string& sql) {
    return std::atoll(query(database, sql).c_str());
  }
  // A connection that gives the server all the time it wants.
  std::unique_ptr<Connection> connect(const std::string& database) {
    ConnectOptions options = connect_options({.url = url(database)});
    options.statement_timeout = Seconds{60};
    auto connection = Connection::open(options, runtime::Deadline(Seconds{60}));
    EXPECT_TRUE(connection) << connection.error().error.what;
    return connection ? std::move(*connection) : nullptr;
  }

 private:
  // Tests end processes, not machines: what the server handed to the kernel is safe.
  TestServer() : process_("mariadb", /*fsync=*/false) {}

  ServerProcess process_;
};

// Skips the whole program, with the reason, where no server can be had. Add it once per program.
class NeedsMariadb final : public testing::Environment {
 public:
  void SetUp() override {
    if (!TestServer::shared().available()) GTEST_SKIP() << TestServer::shared().problem();
  }
};

// A store; a failure to open it is the test's.
inline std::unique_ptr<MariadbStore> open_store(const MariadbOptions& options) {
  auto store = MariadbStore::open(options, nullptr);
  EXPECT_TRUE(store) << store.error().what;
  return store ? std::move(*store) : nullptr;
}

}  // namespace penstock::store::mariadb
