// The conformance suite on a real PostgreSQL: a fresh database for every case.
#include "store/postgres/testing/harness.h"
#include "store/slots/conformance/slot_suite.h"

namespace penstock::store::conformance {
namespace {

const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new postgres::NeedsPostgres);

INSTANTIATE_TEST_SUITE_P(Postgres, SlotSuite, testing::Values(Subject{"postgres", fresh_postgres}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, SlotLifeSuite,
                         testing::Values(Subject{"postgres", fresh_postgres}), name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, RetentionSuite,
                         testing::Values(Subject{"postgres", fresh_postgres}), name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, ConcurrencySuite,
                         testing::Values(Subject{"postgres", fresh_postgres}), name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, DifferentialSuite,
                         testing::Values(Subject{"postgres", fresh_postgres}), name_of);

}  // namespace
}  // namespace penstock::store::conformance
