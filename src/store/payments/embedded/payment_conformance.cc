// The embedded backend under the suites of payment stores.
#include "store/embedded/testing/harness.h"
#include "store/payments/conformance/payment_suite.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, PaymentSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, PaymentDifferentialSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, PaymentConcurrencySuite, kDurable, name_of);

}  // namespace
}  // namespace penstock::store::conformance
