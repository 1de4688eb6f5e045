// The conformance suites of throttle usage and policies on a real PostgreSQL: a fresh database for
// every case.
#include <memory>
#include <string>

#include "runtime/clocks.h"
#include "store/limits/conformance/limit_suite.h"
#include "store/limits/conformance/policy_suite.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::conformance {
namespace {

using postgres::PostgresStore;
using postgres::TestServer;

// Sanitizers and a busy machine make even small calls slow.
constexpr Millis kPatience = Seconds{20};

class PostgresThrottle final : public Harness, public LimitHarness {
 public:
  PostgresThrottle() : database_(TestServer::shared().fresh_database()) { reopen(); }
  ~PostgresThrottle() override {
    store_.reset();
    TestServer::shared().drop(database_);
  }

  LimitStore& limits() override { return *store_->backend().limits.store; }
  Backend backend() override { return store_->backend(); }
  // The database's clock, which is this machine's.
  Instant now() override { return runtime::SystemClock().now(); }
  void reopen() override {
    store_.reset();
    store_ = postgres::open_store({.url = TestServer::shared().url(database_),
                                   .deadline = kPatience,
                                   .limits_deadline = kPatience});
  }

 private:
  const std::string database_;
  std::unique_ptr<PostgresStore> store_;
};

const auto kLimits =
    testing::Values(LimitSubject{"postgres", [] { return std::make_unique<PostgresThrottle>(); }});
const auto kPolicies =
    testing::Values(Subject{"postgres", [] { return std::make_unique<PostgresThrottle>(); }});

INSTANTIATE_TEST_SUITE_P(Postgres, LimitSuite, kLimits, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LimitConcurrencySuite, kLimits, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LimitDifferentialSuite, kLimits, limit_subject_name);
INSTANTIATE_TEST_SUITE_P(Postgres, PolicySuite, kPolicies, name_of);

}  // namespace
}  // namespace penstock::store::conformance
