// The conformance suite on a real PostgreSQL: a fresh database for every case.
#include <memory>
#include <string>

#include "runtime/system_clock.h"
#include "store/conformance/slot_suite.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::conformance {
namespace {

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

std::unique_ptr<Harness> fresh() { return std::make_unique<PostgresHarness>(); }

const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new postgres::NeedsPostgres);

INSTANTIATE_TEST_SUITE_P(Postgres, SlotSuite, testing::Values(Subject{"postgres", fresh}), name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, RetentionSuite, testing::Values(Subject{"postgres", fresh}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, ConcurrencySuite, testing::Values(Subject{"postgres", fresh}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, DifferentialSuite, testing::Values(Subject{"postgres", fresh}),
                         name_of);

}  // namespace
}  // namespace penstock::store::conformance
