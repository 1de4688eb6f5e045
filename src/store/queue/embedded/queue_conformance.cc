// The embedded backend under the suites of dispatch stores.
#include <gtest/gtest.h>

#include "store/embedded/testing/harness.h"
#include "store/queue/conformance/queue_suite.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, QueueSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QueueSlotSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QueueDifferentialSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, QueueConcurrencySuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, LeaseSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, ItemTypeSuite, kDurable, name_of);

}  // namespace
}  // namespace penstock::store::conformance
