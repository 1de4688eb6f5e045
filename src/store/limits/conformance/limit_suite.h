// The one suite that every backend of LimitStore must pass. Include it in one file of the backend
// and instantiate its three suites there; limit_harness.h shows how.
#pragma once

#include "store/limits/conformance/limit_concurrency.h"
#include "store/limits/conformance/limit_differential.h"
#include "store/limits/conformance/limit_harness.h"
#include "store/limits/conformance/limit_rules.h"
