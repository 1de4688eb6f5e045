// The suites of payment stores on a real PostgreSQL: a fresh database for every case.
#include "store/payments/conformance/payment_suite.h"
#include "store/postgres/testing/harness.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Postgres, PaymentSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, PaymentDifferentialSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, PaymentConcurrencySuite, kSubjects, name_of);

}  // namespace
}  // namespace penstock::store::conformance
