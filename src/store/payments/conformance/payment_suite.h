// All suites of payment stores: include this once in `<backend>_payment_conformance.cc` and
// instantiate PaymentSuite, PaymentDifferentialSuite and PaymentConcurrencySuite.
#pragma once

#include "store/payments/conformance/payment_differential.h"
#include "store/payments/conformance/payment_rules.h"
