// The embedded backend under the suite that every backend must pass.
#include <gtest/gtest.h>

#include "store/embedded/testing/harness.h"
#include "store/limits/conformance/policy_suite.h"
#include "store/slots/conformance/slot_suite.h"

namespace penstock::store::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, SlotSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, SlotLifeSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, RetentionSuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, ConcurrencySuite, kDurable, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, DifferentialSuite, kRelaxed, name_of);
INSTANTIATE_TEST_SUITE_P(Embedded, PolicySuite, kDurable, name_of);

}  // namespace
}  // namespace penstock::store::conformance
