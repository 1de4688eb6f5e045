// The suites of dispatch stores on a real PostgreSQL: a fresh database for every case.
#include "store/postgres/testing/harness.h"
#include "store/queue/conformance/queue_suite.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Postgres, QueueSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QueueSlotSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QueueDifferentialSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QueueConcurrencySuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, LeaseSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, ItemTypeSuite, kSubjects, name_of);

}  // namespace
}  // namespace penstock::store::conformance
