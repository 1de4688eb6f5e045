// The embedded backend under the suites of quota stores.
#include <gtest/gtest.h>

#include "store/embedded/testing/harness.h"
#include "store/quota/conformance/attempt_suite.h"
#include "store/quota/conformance/delivery_suite.h"
#include "store/quota/conformance/quota_suite.h"
#include "store/quota/conformance/usage_export_suite.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, QuotaSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QuotaDifferentialSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QuotaConcurrencySuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QuotaPropertySuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, DeliverySuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, UsageExportSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, AttemptSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QuotaGateSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, SendKeySuite, kDurable, name_of);

}  // namespace
}  // namespace penstock::store::conformance
