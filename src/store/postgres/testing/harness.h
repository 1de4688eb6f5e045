// A store on a fresh database of the test server, for the conformance suites. For tests only.
#pragma once

#include <memory>
#include <string>

#include "runtime/clocks.h"
#include "store/postgres/testing/test_server.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

using postgres::PostgresStore;
using postgres::TestServer;

class PostgresHarness final : public Harness {
 public:
  PostgresHarness() : database_(TestServer::shared().fresh_database()) { reopen(); }
  ~PostgresHarness() override {
    store_.reset();
    TestServer::shared().drop(database_);
  }

  Backend backend() override { return store_->backend(); }
  // The database's clock, which is this machine's.
  Instant now() override { return runtime::SystemClock().now(); }
  void reopen() override {
    store_.reset();
    store_ = postgres::open_store({.url = TestServer::shared().url(database_),
                                   // Sanitizers and a busy machine make even small calls slow.
                                   .deadline = Seconds{20}});
  }

 private:
  const std::string database_;
  std::unique_ptr<PostgresStore> store_;
};

inline std::unique_ptr<Harness> fresh_postgres() { return std::make_unique<PostgresHarness>(); }

inline const auto kSubjects = testing::Values(Subject{"postgres", fresh_postgres});

}  // namespace penstock::store::conformance
