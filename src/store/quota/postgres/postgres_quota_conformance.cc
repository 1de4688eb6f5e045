// The suites of quota stores on a real PostgreSQL: a fresh database for every case.
#include "store/postgres/testing/harness.h"
#include "store/quota/conformance/attempt_suite.h"
#include "store/quota/conformance/delivery_suite.h"
#include "store/quota/conformance/quota_suite.h"
#include "store/quota/conformance/usage_export_suite.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Postgres, QuotaSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QuotaDifferentialSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QuotaConcurrencySuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QuotaPropertySuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, DeliverySuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, UsageExportSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, AttemptSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, QuotaGateSuite, kSubjects, name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, SendKeySuite, kSubjects, name_of);

}  // namespace
}  // namespace penstock::store::conformance
