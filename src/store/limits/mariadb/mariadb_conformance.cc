// The conformance suites of throttle usage and policies on a real MariaDB: a fresh database for
// every case.
#include <memory>
#include <string>

#include "runtime/clocks.h"
#include "store/limits/conformance/limit_suite.h"
#include "store/limits/conformance/policy_suite.h"
#include "store/limits/mariadb/testing/test_server.h"

namespace penstock::store::conformance {
namespace {

using mariadb::MariadbStore;
using mariadb::TestServer;

// Sanitizers and a busy machine make even small calls slow.
constexpr Millis kPatience = Seconds{20};

class MariadbThrottle final : public Harness, public LimitHarness {
 public:
  MariadbThrottle() : database_(TestServer::shared().fresh_database()) { reopen(); }
  ~MariadbThrottle() override {
    store_.reset();
    TestServer::shared().drop(database_);
  }

  LimitStore& limits() override { return *store_->backend().limits.store; }
  Backend backend() override { return store_->backend(); }
  // The database's clock, which is this machine's.
  Instant now() override { return runtime::SystemClock().now(); }
  void reopen() override {
    store_.reset();
    store_ = mariadb::open_store({.url = TestServer::shared().url(database_),
                                  .deadline = kPatience,
                                  .upkeep_deadline = kPatience});
  }

 private:
  const std::string database_;
  std::unique_ptr<MariadbStore> store_;
};

const auto kLimits =
    testing::Values(LimitSubject{"mariadb", [] { return std::make_unique<MariadbThrottle>(); }});
const auto kPolicies =
    testing::Values(Subject{"mariadb", [] { return std::make_unique<MariadbThrottle>(); }});

const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new mariadb::NeedsMariadb);

INSTANTIATE_TEST_SUITE_P(Mariadb, LimitSuite, kLimits, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, LimitConcurrencySuite, kLimits, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, LimitDifferentialSuite, kLimits, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, PolicySuite, kPolicies, name_of);

}  // namespace
}  // namespace penstock::store::conformance
