// The one suite that every backend of LimitStore must pass. Include it in one file of the backend
// and instantiate its three suites there; limit_harness.h shows how.
#pragma once

#include "store/conformance/limit_concurrency.h"
#include "store/conformance/limit_differential.h"
#include "store/conformance/limit_harness.h"
#include "store/conformance/limit_rules.h"
